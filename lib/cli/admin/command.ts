import type { Actor } from '#store/audit/audit-entry.ts'
import type { Table } from '#store/table/table.ts'
import type { Output } from '../output.ts'
import { UsageError } from '../terminal.ts'
import type { StackResource } from './deployment.ts'

/** One `--option` of a command. */
export type CommandOption = {
  /** The name of the value in the help, such as `ID`; an option without it is a switch. */
  readonly value?: string
  readonly summary: string
  readonly required?: true
  /** The field of the input that it gives, if that has another name. */
  readonly field?: string
}

/** A word after the command's name, such as `NAME` of `secret set NAME`. */
type CommandParameter = { readonly name: string; readonly summary: string; readonly required?: true }

/** One command of `npm run admin`. The parser and the help are made from these. */
export type Command = {
  /** Words, such as `key create`. The first is its topic. */
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** More than the summary, in full sentences. */
  readonly details?: string
  readonly parameters?: readonly CommandParameter[]
  readonly options?: Readonly<Record<string, CommandOption>>
  /** Command lines without `npm run admin -- `, at least one. */
  readonly examples: readonly string[]
  /** The operation of the admin API whose JSON it prints, for a command that has nothing of its own. */
  readonly operation?: string
  run(context: AdminContext, values: CommandValues): Promise<Output>
}

/** The surroundings of a command: place, table, terminal. */
export type AdminContext = {
  /** True for a running local host, false for a deployed stage. */
  readonly local: boolean
  /** The deployed stage, such as `dev`; meaningless if `local`. */
  readonly stage: string
  /** The data directory of the local host. */
  readonly dataDirectory: string
  /** Whether the output is for a program. */
  readonly json: boolean
  /** Width of the terminal that shows the output; undefined for a pipe or a file. */
  readonly columns?: number | undefined
  /** The table of the stage or of the local host, opened once. @throws DeploymentNotFoundError. */
  table(): Promise<Table>
  /** Who runs the command, for the audit log; read once. @throws CommandFailedError without access to AWS. */
  actor(): Promise<Actor>
  /**
   * An output of the stack, such as `BaseUrl`, or `StateMachineArn` and `BucketName`. A local host has some of the same names.
   * @throws DeploymentNotFoundError if there is no such stage or host; OutputNotFoundError if it has no such output.
   */
  output(name: string): Promise<string>
  /** Every resource of the stack; empty for a local host. @throws DeploymentNotFoundError. */
  resources(): Promise<readonly StackResource[]>
  /**
   * Asks for confirmation of a change that cannot be undone, on a terminal; `--yes` confirms in advance.
   * @param sentence what will happen, without a full stop.
   * @throws NotConfirmedError if the person declines; UsageError if there is no terminal and no `--yes`.
   */
  confirm(sentence: string, options?: ConfirmOptions): Promise<void>
  /** Writes one sentence to stderr; the output stays the same. */
  warn(sentence: string): void
  /** Writes to stdout before the final output, for output too long for memory; resolves when there is room for more. */
  write(text: string): Promise<void>
}

/** What `confirm` does without a person to ask. */
export type ConfirmOptions = {
  /**
   * What happens without a terminal, or with `--json`, if `--yes` is missing. The default is `refuse`; `proceed` is for commands that
   * scripts run without `--yes`.
   */
  readonly unattended?: 'refuse' | 'proceed'
}

/** The options and parameters of a command line by name: options without dashes, parameters as `NAME`. */
export class CommandValues {
  readonly #values: ReadonlyMap<string, string | true>

  constructor(values: ReadonlyMap<string, string | true>) {
    this.#values = values
  }

  /** The value of an option; undefined if it was not given. */
  text(name: string): string | undefined {
    const value = this.#values.get(name)
    return value === true ? undefined : value
  }

  /** The value of a required option or parameter; a command line without it has been refused before. @throws UsageError. */
  required(name: string): string {
    const value = this.text(name)
    if (value === undefined) {
      throw new UsageError(`${name === name.toUpperCase() ? name : `--${name}`} is missing`)
    }
    return value
  }

  /** Whether a switch was given. */
  has(name: string): boolean {
    return this.#values.has(name)
  }

  /** A whole number from 1, in plain digits; undefined if the option was not given. @throws UsageError for anything else. */
  count(name: string): number | undefined {
    const text = this.text(name)
    return text === undefined ? undefined : readCount(name, text)
  }
}

/** A whole number from 1, in plain digits. @throws UsageError naming the option. */
export function readCount(option: string, text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < 1) {
    throw new UsageError(`--${option} ${text}: use a whole number from 1`)
  }
  return count
}
