import { parseArgs } from 'node:util'
import { nearestName } from '../../terminal/nearest-name.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import type { Command, CommandOption } from './command.ts'
import { CommandValues } from './command-values.ts'

/** Options of every command. */
export const COMMON_OPTIONS: Readonly<Record<string, CommandOption>> = {
  json: { summary: 'the answer, or the error on stderr, as one line of JSON' },
  local: { summary: 'work on a running local host instead of a deployed stage' },
  'data-dir': { value: 'DIRECTORY', summary: 'state of that local host; .data unless said' },
  stage: { value: 'STAGE', summary: 'the deployed stage, in the usual AWS environment; dev unless said' },
  yes: { summary: 'do not ask before something that cannot be taken back' },
  help: { summary: 'this text; after a command its own' },
}

/** What was typed: a command with its values, or a wish for help on all commands, a topic or one command. */
export type CommandLine = {
  readonly command: Command | undefined
  /** The words as typed. */
  readonly words: readonly string[]
  readonly help: boolean
  readonly values: CommandValues
}

/** A refused command line, and the command that it was meant for where that is known. */
export class CommandLineError extends UsageError {
  readonly command: Command | undefined

  constructor(message: string, command?: Command) {
    super(message)
    this.command = command
  }
}

/** Reads the words after `npm run admin --`. @throws CommandLineError with one sentence. */
export function readCommandLine(parameters: readonly string[], commands: readonly Command[]): CommandLine {
  const { values: parsed, words, given } = readTokens(parameters, commands)
  const command = findCommand(words, commands)
  const help = parsed.has('help')
  const line = { command, words, help, values: new CommandValues(parsed) }
  if (help) {
    return line
  }
  if (command === undefined) {
    // First: the value of a mistyped option looks like a word of the command.
    refuseUnknownOptions(given, commands)
    if (words.length === 0) {
      return line
    }
    throw new CommandLineError(unknownCommand(words, commands))
  }
  checkOptions(command, given)
  readParameters(command, words, parsed)
  for (const [name, { required }] of Object.entries(command.options ?? {})) {
    if (required && (line.values.text(name) ?? '') === '') {
      throw new CommandLineError(`--${name} is missing`, command)
    }
  }
  return line
}

function readParameters(
  command: Command,
  words: readonly string[],
  parsed: Map<string, readonly string[] | true>,
): void {
  const rest = words.slice(command.name.split(' ').length)
  const parameters = command.parameters ?? []
  if (rest.length > parameters.length) {
    const excess = isSecretive(words)
      ? 'a word too many; a secret value is never typed as one'
      : `nothing to do with "${rest.slice(parameters.length).join(' ')}"`
    throw new CommandLineError(`"${command.name}" has ${excess}`, command)
  }
  for (const [index, { name, required }] of parameters.entries()) {
    const word = rest[index]
    if (word !== undefined) {
      parsed.set(name, [word])
    } else if (required) {
      throw new CommandLineError(`${name} is missing`, command)
    }
  }
}

type Given = { readonly name: string; readonly rawName: string; readonly value: string | undefined; inline: boolean }

/** By name: the options of all commands. */
function knownOptions(commands: readonly Command[]): Readonly<Record<string, CommandOption>> {
  return Object.assign({}, ...commands.map(({ options }) => options), COMMON_OPTIONS)
}

/** Of a line without a command, the option that none has. */
function refuseUnknownOptions(given: readonly Given[], commands: readonly Command[]): void {
  const known = knownOptions(commands)
  const unknown = given.find(({ name }) => !Object.hasOwn(known, name))
  if (unknown !== undefined) {
    throw new CommandLineError(`there is no option ${unknown.rawName}${hintFor(unknown.name, Object.keys(known))}`)
  }
}

function hintFor(option: string, names: readonly string[]): string {
  const nearest = nearestName(option, names)
  return nearest === undefined ? '' : `; did you mean --${nearest}?`
}

function readTokens(parameters: readonly string[], commands: readonly Command[]) {
  const known = knownOptions(commands)
  const { tokens } = parseArgs({
    args: [...parameters],
    options: Object.fromEntries(
      Object.entries(known).map(([name, { value }]) => [
        name,
        {
          type: value === undefined ? ('boolean' as const) : ('string' as const),
          ...(name === 'help' ? { short: 'h' } : {}),
        },
      ]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const words = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []))
  const given: Given[] = tokens.flatMap((token) =>
    token.kind === 'option'
      ? [{ name: token.name, rawName: token.rawName, value: token.value, inline: token.inlineValue ?? false }]
      : [],
  )
  const values = new Map<string, readonly string[] | true>()
  for (const { name, value } of given) {
    const before = values.get(name)
    values.set(name, value === undefined ? true : [...(before === undefined || before === true ? [] : before), value])
  }
  return { words, given, values }
}

/** The command whose words the line begins with, the longest one. `ledger verify` is one; `ledger frobnicate` is none. */
function findCommand(words: readonly string[], commands: readonly Command[]): Command | undefined {
  const fitting = commands
    .map((command) => ({ command, own: command.name.split(' ') }))
    .filter(({ own }) => own.every((word, index) => words[index] === word))
    .toSorted((left, right) => right.own.length - left.own.length)[0]
  const isTopicAlone = fitting?.own.length === 1 && words.length > 1 && (fitting.command.parameters ?? []).length === 0
  return isTopicAlone ? undefined : fitting?.command
}

/** Topics whose words are not repeated: somebody may have typed a secret value among them, and error output is kept. */
const SECRETIVE_TOPICS: readonly string[] = ['secret', 'cdn-key', 'callback-secret']

/** Words in the name of a command. What was typed after them is none of its name, and may be a secret value. */
const NAME_WORDS_MAX = 2

function isSecretive([topic = '']: readonly string[]): boolean {
  return SECRETIVE_TOPICS.includes(topic)
}

function unknownCommand(words: readonly string[], commands: readonly Command[]): string {
  const typed = words.slice(0, NAME_WORDS_MAX).join(' ')
  const shown = isSecretive(words) ? `${words[0]} ...` : typed
  const names = commands.map(({ name }) => name)
  const nearest = nearestName(typed, names)
  if (nearest !== undefined) {
    return `no command "${shown}"; did you mean "${nearest}"?`
  }
  const ofTopic = names.filter((name) => name.startsWith(`${words[0]} `)).map((name) => `"${name}"`)
  return `no command "${shown}"${ofTopic.length === 0 ? '' : `; there is ${ofTopic.join(', ')}`}`
}

function checkOptions(command: Command, given: readonly Given[]): void {
  const own: Readonly<Record<string, CommandOption>> = { ...command.options, ...COMMON_OPTIONS }
  const seen = new Set<string>()
  for (const { name, rawName, value, inline } of given) {
    const option = Object.hasOwn(own, name) ? own[name] : undefined
    if (option === undefined) {
      const hint = hintFor(name, Object.keys(own))
      throw new CommandLineError(`"${command.name}" has no option ${rawName}${hint}`, command)
    }
    const takesValue = option.value !== undefined
    // A dash after an option that needs a value is the next option: the value was forgotten.
    if (takesValue && (value === undefined || (!inline && value.startsWith('-')))) {
      throw new CommandLineError(`--${name} needs a value (one that begins with a dash: --${name}=VALUE)`, command)
    }
    if (!takesValue && value !== undefined) {
      throw new CommandLineError(`--${name} takes no value`, command)
    }
    if (seen.has(name) && takesValue) {
      throw new CommandLineError(`--${name} is given twice`, command)
    }
    seen.add(name)
  }
  if (seen.has('local') && seen.has('stage')) {
    throw new CommandLineError('--local and --stage are two places: give one of them', command)
  }
}
