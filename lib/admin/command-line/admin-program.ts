import { Command as Commander, Option } from 'commander'
import { UsageError } from '../../terminal/usage-error.ts'
import type { Command, CommandOption } from './command.ts'

/** What an operator types before a command. */
export const CALL = 'npm run admin --'

/** For output that a program or a file receives: without `--silent`, npm prints its own lines on stdout. */
const SILENT_CALL = 'npm run --silent admin --'

/** Options of every command, accepted before and after its name. */
export const COMMON_OPTIONS: Readonly<Record<string, CommandOption>> = {
  json: { summary: 'print the answer, or the error on stderr, as one line of JSON' },
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
