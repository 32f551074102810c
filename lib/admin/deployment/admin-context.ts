import { UsageError } from '../../terminal/usage-error.ts'
import type { AdminContext, ConfirmOptions } from '../command-line/command.ts'
import { NotConfirmedError } from '../command-line/command-failed-error.ts'
import type { CommandValues } from '../command-line/command-values.ts'
import { printable } from '../command-line/printable.ts'
import { Deployment } from './deployment.ts'

/** The terminal, as far as commands use it. */
export type Terminal = {
  /** Whether a person can be asked. */
  readonly isInteractive: boolean
  /** Asks on stderr, answers what was typed. */
  ask(question: string): Promise<string>
  /** Writes to stdout; resolves when there is room for more. */
  write(text: string): Promise<void>
  writeError(text: string): void
}

/** What a command finds around it, from the options that every command has. */
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
    table: () => deployment.table(),
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
      throw new UsageError(`${sentence}: nobody can be asked here, so say --yes`)
    }
    return
  }
  const answer = await terminal.ask(`${printable(sentence)}. Go on? [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) {
    throw new NotConfirmedError('nothing was changed')
  }
}
