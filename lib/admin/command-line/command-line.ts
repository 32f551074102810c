import { type Command as Commander, CommanderError, type Option } from 'commander'
import { nearestName } from '../../terminal/nearest-name.ts'
import { CommandLineError, createProgram, descendantsOf, nameOf } from './admin-program.ts'
import type { Command } from './command.ts'
import { CommandValues } from './command-values.ts'

/** A command with its values, or the help to print instead. */
export type CommandLine =
  | { readonly command: Command; readonly values: CommandValues }
  | { readonly command?: undefined; readonly help: string }

/** Reads the words after `npm run admin --`. @throws CommandLineError with one sentence. */
export function readCommandLine(parameters: readonly string[], commands: readonly Command[]): CommandLine {
  let help = ''
  let line: CommandLine | undefined
  const program = createProgram(commands, {
    take: (command, node) => {
      line = { command, values: readValues(command, node) }
    },
    write: (text) => {
      help += text
    },
  })
  for (const node of [program, ...descendantsOf(program)]) {
    node.exitOverride((error) => {
      const command = commands.find(({ name }) => name === nameOf(node))
      throw isHelp(error, node) ? error : new CommandLineError(explain(error, { node, command, commands }), command)
    })
  }
  try {
    program.parse(parameters, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      throw error
    }
  }
  return line ?? { help }
}

/** @throws CommandLineError for a missing value, a missing option, and two places to work on. */
function readValues(command: Command, node: Commander): CommandValues {
  const given = node.optsWithGlobals()
  const values = new Map<string, string | true>()
  for (const [index, { name }] of (command.parameters ?? []).entries()) {
    const word = node.args[index]
    if (word !== undefined) {
      values.set(name, word)
    }
  }
  for (const option of optionsOf(node)) {
    const value: string | true | undefined = given[option.attributeName()]
    const name = option.name()
    if (value === true && option.optional) {
      throw new CommandLineError(`--${name} needs a value (one that begins with a dash: --${name}=VALUE)`, command)
    }
    if (!value && command.options?.[name]?.required) {
      throw new CommandLineError(`--${name} is missing`, command)
    }
    if (value !== undefined) {
      values.set(name, value)
    }
  }
  if (values.has('local') && values.has('stage')) {
    throw new CommandLineError('--local and --stage are two places: give one of them', command)
  }
  return new CommandValues(values)
}

function optionsOf(node: Commander): readonly Option[] {
  return node.parent === null ? node.options : [...node.options, ...optionsOf(node.parent)]
}

/** A command line without words asks for the help. */
function isHelp({ code }: CommanderError, node: Commander): boolean {
  return code === 'commander.helpDisplayed' || (code === 'commander.help' && node.parent === null)
}

type Refused = {
  readonly node: Commander
  readonly command: Command | undefined
  readonly commands: readonly Command[]
}

/** Commander repeats words and values in some messages. Those are written again here, because a word may be a secret. */
function explain({ code, message }: CommanderError, { node, command, commands }: Refused): string {
  // After a single dash, only the first letter can be an option; the rest may be a value, such as a key that begins with a dash.
  const [, option] = /^error: unknown option '(--[^'=]*|-[^'=]?)/.exec(message) ?? []
  if (option !== undefined) {
    return unknownOption(option, { node, command, commands })
  }
  if (code === 'commander.excessArguments' && node.commands.length === 0 && isSecretive(nameOf(node))) {
    return `"${nameOf(node)}" has too many arguments; a secret value is never given as an argument`
  }
  if (code === 'commander.missingArgument' || (code === 'commander.excessArguments' && node.commands.length === 0)) {
    return message.replace(/^error: /, '')
  }
  return unknownCommand([nameOf(node), ...node.args].filter(Boolean), commands)
}

function unknownOption(flag: string, { node, command, commands }: Refused): string {
  const typed = flag.replace(/^-+/, '')
  const names = optionsOf(node).map((option) => option.name())
  if (names.includes(typed)) {
    return `${flag} takes no value`
  }
  if (command === undefined && commands.some(({ options = {} }) => Object.hasOwn(options, typed))) {
    return `${flag} follows the name of its command`
  }
  const nearest = nearestName(typed, names)
  const hint = nearest === undefined ? '' : `; did you mean --${nearest}?`
  return `${command === undefined ? 'there is' : `"${command.name}" has`} no option ${flag}${hint}`
}

/** Topics whose words are not repeated: one of them may be a secret value, and error output is kept. */
const SECRETIVE_TOPICS: readonly string[] = ['secret', 'cdn-key', 'callback-secret']

/** @param name of a command or a topic. */
function isSecretive(name: string): boolean {
  return SECRETIVE_TOPICS.includes(name.split(' ')[0] ?? '')
}

/** @param words as typed; those after the second are not part of a name. */
function unknownCommand(words: readonly string[], commands: readonly Command[]): string {
  const [topic = ''] = words
  const typed = words.slice(0, 2).join(' ')
  const shown = isSecretive(topic) ? `${topic} ...` : typed
  const names = commands.map(({ name }) => name)
  const nearest = nearestName(typed, names)
  if (nearest !== undefined) {
    return `no command "${shown}"; did you mean "${nearest}"?`
  }
  const ofTopic = names.filter((name) => name.startsWith(`${topic} `)).map((name) => `"${name}"`)
  return `no command "${shown}"${ofTopic.length === 0 ? '' : `; there is ${ofTopic.join(', ')}`}`
}
