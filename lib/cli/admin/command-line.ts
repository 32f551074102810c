import { Command as Commander, CommanderError, Option } from 'commander'
import { nearestName } from '#core/nearest-name.ts'
import { printableJson, printableLines } from '#core/redaction.ts'
import { explainFailure } from '../failures.ts'
import { UsageError } from '../terminal.ts'
import { createAdminContext, type Terminal } from './admin-context.ts'
import { type AdminContext, type Command, type CommandOption, CommandValues } from './command.ts'

/** What an operator types before a command. */
export const CALL = 'npm run admin --'

/** For output that a program or a file receives: without `--silent`, npm prints its own lines on stdout. */
const SILENT_CALL = 'npm run --silent admin --'

/** Options of every command, accepted before and after its name. */
export const COMMON_OPTIONS: Readonly<Record<string, CommandOption>> = {
  json: { summary: 'print the output, or the error on stderr, as one line of JSON' },
  local: { summary: 'work on a running local host instead of a deployed stage' },
  'data-dir': { value: 'DIRECTORY', summary: 'the data directory of that local host; default: .data' },
  stage: { value: 'STAGE', summary: 'the deployed stage, in the usual AWS environment; default: dev' },
  yes: { summary: 'do not ask before a change that cannot be undone' },
}

/** A command line that was refused, with the command that it names, if it names one. */
export class CommandLineError extends UsageError {
  readonly command: Command | undefined

  constructor(message: string, command?: Command) {
    super(message)
    this.command = command
  }
}

/** How a command is typed, such as `key create --tenant ID [--models A,B]`. */
export function usageOf(command: Command): string {
  return [command.name, ...argumentsOf(command)].join(' ')
}

/**
 * The program that Commander parses and documents: one node per word of a command.
 * @param take receives the node of a command whose command line parsed.
 * @param write receives the help, where it was asked for.
 */
export function createProgram(
  commands: readonly Command[],
  { take, write }: { take: (command: Command, node: Commander) => void; write: (help: string) => void },
): Commander {
  const program: Commander = new Commander(CALL)
    .usage('COMMAND [OPTIONS]')
    .helpCommand(false)
    .helpOption('-h, --help', 'show this help; after a command, the help of the command')
    .configureOutput({ writeOut: write, writeErr: write, outputError: () => undefined })
    .configureHelp({
      showGlobalOptions: true,
      optionTerm: ({ flags }) => flags.replaceAll(/[[\]]/g, ''),
      subcommandTerm: nameOf,
      // Otherwise a command would show the options of the command that its name begins with.
      visibleGlobalOptions: (node) => (node.parent === null ? [] : [...program.options]),
      visibleCommands: (node) => descendantsOf(node).filter((child) => child.summary() !== ''),
    })
    .addHelpText(
      'after',
      `
\`${CALL} COMMAND --help\` shows the options and examples of a command.
Exit code 0: done. 1: the command failed, or found something wrong. 2: the command line is invalid; nothing was done.`,
    )
  addOptions(program, COMMON_OPTIONS)
  for (const command of commands) {
    const node = addCommand(program, command)
    node.action(() => take(command, node))
  }
  return program
}

/** The words of a command, such as `key create`; empty for the program itself. */
export function nameOf(node: Commander): string {
  return node.parent === null ? '' : `${nameOf(node.parent)} ${node.name()}`.trim()
}

/** Every node below another. */
export function descendantsOf(node: Commander): readonly Commander[] {
  return node.commands.flatMap((child) => [child, ...descendantsOf(child)])
}

function addCommand(program: Commander, command: Command): Commander {
  const { name, summary, details, parameters = [], options = {}, examples } = command
  const node = name
    .split(' ')
    .reduce((parent, word) => parent.commands.find((child) => child.name() === word) ?? parent.command(word), program)
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`
  const calls = examples.map((example) => `  ${/ [>|] | --json\b/.test(example) ? SILENT_CALL : CALL} ${example}`)
  node
    .enablePositionalOptions()
    .usage(argumentsOf(command).join(' '))
    .summary(summary)
    .description(details === undefined ? sentence : `${sentence}\n\n${asParagraph(details)}`)
    .addHelpText('after', `\nExamples:\n${calls.join('\n')}`)
  for (const parameter of parameters) {
    node.argument(parameter.required ? `<${parameter.name}>` : `[${parameter.name}]`, parameter.summary)
  }
  addOptions(node, options, command)
  return node
}

/** Commander breaks lines at the width of the terminal, and keeps every break of the source too. */
function asParagraph(details: string): string {
  return details.replaceAll('\n', ' ')
}

/** To Commander every value is optional: for a required one it would take the next option. `readCommandLine` requires the value. */
function addOptions(node: Commander, options: Readonly<Record<string, CommandOption>>, command?: Command): void {
  for (const [name, { value, summary }] of Object.entries(options)) {
    const option = new Option(value === undefined ? `--${name}` : `--${name} [${value}]`, summary)
    if (value !== undefined) {
      option.argParser<string>((typed, previous) => {
        if (previous !== undefined) {
          throw new CommandLineError(`--${name} is given twice`, command)
        }
        return typed
      })
    }
    node.addOption(option)
  }
}

function argumentsOf({ parameters = [], options = {} }: Command): readonly string[] {
  const bracketed = (term: string, required: true | undefined) => (required ? term : `[${term}]`)
  return [
    ...parameters.map(({ name, required }) => bracketed(name, required)),
    ...Object.entries(options).map(([name, { value, required }]) =>
      bracketed(value === undefined ? `--${name}` : `--${name} ${value}`, required),
    ),
  ]
}

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
    const { required, summary } = command.options?.[name] ?? {}
    if (!value && required) {
      throw new CommandLineError(`--${name} is missing: ${summary}`, command)
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
  const [word] = command?.parameters?.filter(({ name }) => name.toLowerCase() === typed) ?? []
  if (command !== undefined && word !== undefined) {
    return `"${command.name}" takes ${word.name} as a word, without the name of an option`
  }
  const ofField = Object.entries(command?.options ?? {}).find(([, { field }]) => field === typed.replaceAll('-', '_'))
  const nearest = ofField?.[0] ?? nearestName(typed, names) ?? sameValue(typed, command, commands)
  const hint = nearest === undefined ? '' : `; did you mean --${nearest}?`
  return `${command === undefined ? 'there is' : `"${command.name}" has`} no option ${flag}${hint}`
}

/** The option of a command that takes the same value as an option of this name does in its sister commands, such as `--credits` for `--amount`. */
function sameValue(typed: string, command: Command | undefined, commands: readonly Command[]): string | undefined {
  const [topic] = command?.name.split(' ') ?? []
  const sisters = commands.filter(({ name }) => name.split(' ')[0] === topic)
  const values = sisters.flatMap(({ options = {} }) => options[typed]?.value ?? [])
  return Object.entries(command?.options ?? {}).find(
    ([, { value }]) => value !== undefined && values.includes(value),
  )?.[0]
}

/** Topics whose words are not repeated: one of them may be a secret value, and error output is kept. */
const SECRETIVE_TOPICS: readonly string[] = ['secret', 'cdn-key', 'callback-secret']

/** @param name of a command or a topic. */
function isSecretive(name: string): boolean {
  return SECRETIVE_TOPICS.includes(name.split(' ')[0] ?? '')
}

/** @param words as typed; those after the second are not part of a name. */
function unknownCommand(words: readonly string[], commands: readonly Command[]): string {
  const [topic = '', word = ''] = words
  const typed = words.slice(0, 2).join(' ')
  const shown = isSecretive(topic) ? `${topic} ...` : typed
  const names = commands.map(({ name }) => name)
  const ofTopic = names.filter((name) => name.startsWith(`${topic} `))
  // The letters of the topic say nothing about the word after it.
  const second = nearestName(
    word,
    ofTopic.map((name) => name.slice(topic.length + 1)),
  )
  const nearest = ofTopic.length === 0 ? nearestName(typed, names) : second && `${topic} ${second}`
  if (nearest !== undefined) {
    return `no command "${shown}"; did you mean "${nearest}"?`
  }
  return `no command "${shown}"${ofTopic.length === 0 ? '' : `; there is ${ofTopic.map((name) => `"${name}"`).join(', ')}`}`
}

/** 0: done. 1: the command failed, or found something wrong. 2: the command line is invalid. */
export type ExitCode = 0 | 1 | 2

type Surroundings = {
  readonly commands: readonly Command[]
  readonly terminal: Terminal
  /** Replaced by tests. */
  readonly createContext?: (values: CommandValues, terminal: Terminal) => AdminContext
}

/**
 * Runs one command line. The output goes to stdout. An error goes to stderr: one sentence, followed by the usage if the command line is
 * wrong, or with `--json` the line `{"error": "..."}`.
 */
export async function runCommandLine(parameters: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  try {
    return await run(parameters, surroundings)
  } catch (error) {
    const { terminal } = surroundings
    if (parameters.includes('--json')) {
      terminal.writeError(`${printableJson({ error: explainFailure(error) ?? String(error) })}\n`)
    } else if (error instanceof UsageError) {
      const command = error instanceof CommandLineError ? error.command : undefined
      terminal.writeError(`${printableLines(error.message)}\n\n${usage(command)}\n`)
    } else {
      terminal.writeError(`${printableLines(explainFailure(error) ?? stackOf(error))}\n`)
    }
    return error instanceof UsageError ? 2 : 1
  }
}

async function run(parameters: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  const { commands, terminal, createContext = createAdminContext } = surroundings
  const line = readCommandLine(parameters, commands)
  if (line.command === undefined) {
    await terminal.write(line.help)
    return 0
  }
  const { command, values } = line
  try {
    const { json, text, isOk = true } = await command.run(createContext(values, terminal), values)
    if (json !== undefined) {
      await terminal.write(`${values.has('json') ? printableJson(json) : printableLines(text)}\n`)
    }
    return isOk ? 0 : 1
  } catch (error) {
    throw error instanceof UsageError ? new CommandLineError(error.message, command) : error
  }
}

function usage(command: Command | undefined): string {
  return command === undefined
    ? `\`${CALL} --help\` lists the commands.`
    : `usage: ${CALL} ${usageOf(command)}\n\`${CALL} ${command.name} --help\` explains it.`
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? String(error)) : String(error)
}
