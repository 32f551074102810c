import type { Table } from '#adapters/store/table/table.ts'
import type { StackResource } from '../deployment/stack-resources.ts'
import type { Answer } from './answer.ts'
import type { CommandValues } from './command-values.ts'

/** One `--option` of a command. All commands that have an option of one name agree on its type. */
export type CommandOption = {
  /** How the help names the value, such as `ID`; an option without it is a switch. */
  readonly value?: string
  readonly summary: string
  readonly required?: true
}

/** A word after the command's name, such as `NAME` of `secret set NAME`. */
type CommandParameter = { readonly name: string; readonly summary: string; readonly required?: true }

/** One command of `npm run admin`. The help is written from this, so it cannot be forgotten. */
export type Command = {
  /** Words, such as `key create`. The first is its topic. */
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** What the summary has no room for; full sentences. */
  readonly details?: string
  readonly parameters?: readonly CommandParameter[]
  readonly options?: Readonly<Record<string, CommandOption>>
  /** What follows `npm run admin -- `, at least one. */
  readonly examples: readonly string[]
  run(context: AdminContext, values: CommandValues): Promise<Answer>
}

/** What a command finds around it. */
export type AdminContext = {
  /** True for a running local host, false for a deployed stage. */
  readonly local: boolean
  /** The deployed stage, such as `dev`; of no meaning when `local`. */
  readonly stage: string
  /** State of the local host. */
  readonly dataDirectory: string
  /** Whether a program reads the answer. */
  readonly json: boolean
  /** The table of the stage or of the local host, opened once. @throws DeploymentNotFoundError. */
  table(): Promise<Table>
  /**
   * An output of the stack, such as `BaseUrl`, or `StateMachineArn` and `BucketName`; of a running local host the same
   * names where it has them.
   * @throws DeploymentNotFoundError when there is no such stage or host; OutputNotFoundError when it has no such output.
   */
  output(name: string): Promise<string>
  /** Everything that the stack is made of; empty for a local host. @throws DeploymentNotFoundError. */
  resources(): Promise<readonly StackResource[]>
  /**
   * Asks before something that cannot be taken back: on a terminal a person says yes, `--yes` says it beforehand.
   * @param sentence what will happen, ending without a question mark.
   * @throws NotConfirmedError when the person says no; UsageError when nobody can be asked and `--yes` is missing.
   */
  confirm(sentence: string, options?: ConfirmOptions): Promise<void>
  /** One sentence on stderr that changes nothing about the answer. */
  warn(sentence: string): void
  /** Writes to stdout before the answer, for what is too long to be kept; resolves when there is room for more. */
  write(text: string): Promise<void>
}

/** How a question behaves where nobody can answer it. */
export type ConfirmOptions = {
  /**
   * What happens when nobody can be asked (no terminal, or `--json`) and `--yes` is missing. `refuse` unless said;
   * `proceed` is for commands that scripts run without `--yes`.
   */
  readonly unattended?: 'refuse' | 'proceed'
}
