import { formatTable } from './answer.ts'
import type { Command, CommandOption } from './command.ts'
import { COMMON_OPTIONS } from './command-line.ts'

const CALL = 'npm run admin --'

/** For a file or a program: npm says on stdout what it runs, unless it is silent. */
const SILENT_CALL = 'npm run --silent admin --'

/** The usage line of a command, such as `key create --tenant ID [--models a,b]`. */
export function usageOf({ name, parameters = [], options = {} }: Command): string {
  const words = parameters.map((parameter) => optional(parameter.name, parameter.required))
  const flags = Object.entries(options).map(([option, spec]) => optional(flagOf(option, spec), spec.required))
  return [name, ...words, ...flags].join(' ')
}

/** What `--help` says of one command: usage, what it does, its options, examples. */
export function commandHelp(command: Command): string {
  const parts = [
    `${CALL} ${usageOf(command)}`,
    `${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.`,
  ]
  if (command.details !== undefined) {
    parts.push(command.details)
  }
  const parameters = (command.parameters ?? []).map(({ name, summary }) => [`  ${name}`, summary])
  const options = Object.entries(command.options ?? {}).map(([name, option]) => [
    `  ${flagOf(name, option)}`,
    option.summary,
  ])
  if (parameters.length + options.length > 0) {
    parts.push(columns([...parameters, ...options]))
  }
  parts.push(`Options of every command\n${commonOptions()}`)
  parts.push(`Examples\n${command.examples.map((example) => `  ${callOf(example)} ${example}`).join('\n')}`)
  return parts.join('\n\n')
}

/** What `--help` alone says: every command, or those of one topic. */
export function overallHelp(commands: readonly Command[]): string {
  const topics = new Map<string, Command[]>()
  for (const command of commands) {
    const topic = command.name.split(' ')[0] ?? ''
    topics.set(topic, [...(topics.get(topic) ?? []), command])
  }
  const lists = [...topics.values()].map((topic) =>
    topic.map((command) => `  ${usageOf(command)}\n      ${command.summary}`).join('\n'),
  )
  return [
    `${CALL} COMMAND [OPTIONS]`,
    ...lists,
    `Options of every command\n${commonOptions()}`,
    `\`${CALL} COMMAND --help\` shows a command with its options and examples.
Exit code 0: done. 1: it failed, or what was checked is wrong. 2: the command line makes no sense; nothing was done.`,
  ].join('\n\n')
}

function callOf(example: string): string {
  return / [>|] | --json\b/.test(example) ? SILENT_CALL : CALL
}

function commonOptions(): string {
  return columns(Object.entries(COMMON_OPTIONS).map(([name, option]) => [`  ${flagOf(name, option)}`, option.summary]))
}

function columns(rows: readonly (readonly string[])[]): string {
  return formatTable([], rows)
}

function flagOf(name: string, { value }: CommandOption): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`
}

function optional(text: string, isRequired: true | undefined): string {
  return isRequired ? text : `[${text}]`
}
