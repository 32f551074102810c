import { once } from '#adapters/once.ts'
import { printable } from '#core/redaction.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import type { AdminContext, ConfirmOptions } from '../command-line/command.ts'
import { NotConfirmedError } from '../command-line/command-failed-error.ts'
import type { CommandValues } from '../command-line/command-values.ts'
import { readAdminActor } from './admin-actor.ts'
import { Deployment } from './deployment.ts'

/** The part of a terminal that commands use. */
export type Terminal = {
  /** Whether there is a person to ask. */
  readonly isInteractive: boolean
  /** Width of stdout in characters; undefined if it is not a terminal. */
  readonly columns?: number | undefined
  /** Asks on stderr; resolves with the typed line. */
  ask(question: string): Promise<string>
  /** Writes to stdout; resolves when there is room for more. */
  write(text: string): Promise<void>
  writeError(text: string): void
}

/** The surroundings of a command, from the common options. */
export function createAdminContext(values: CommandValues, terminal: Terminal): AdminContext {
  const where = {
    local: values.has('local'),
    stage: values.text('stage') ?? 'dev',
    dataDirectory: values.text('data-dir') ?? '.data',
  }
  const deployment = new Deployment(where)
  const json = values.has('json')
  return {
    ...where,
    json,
    columns: terminal.columns,
    table: () => deployment.table(),
    actor: once(() => readAdminActor(where)),
    output: (name) => deployment.output(name),
    resources: () => deployment.resources(),
    confirm: (sentence, options) =>
      values.has('yes')
        ? Promise.resolve()
        : confirm(sentence, { ...options, isAsked: terminal.isInteractive && !json, terminal }),
    warn: (sentence) => terminal.writeError(`warning: ${printable(sentence)}\n`),
    write: (text) => terminal.write(text),
  }
}

async function confirm(
  sentence: string,
  { unattended = 'refuse', isAsked, terminal }: ConfirmOptions & { isAsked: boolean; terminal: Terminal },
): Promise<void> {
  if (!isAsked) {
    if (unattended === 'refuse') {
      throw new UsageError(`${sentence}: there is no terminal to ask for confirmation, so say --yes`)
    }
    return
  }
  const answer = await terminal.ask(`${printable(sentence)}. Go on? [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) {
    throw new NotConfirmedError('nothing was changed')
  }
}
