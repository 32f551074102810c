import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { printable } from '#core/redaction.ts'
import { localActor } from '#local/local-actor.ts'
import { once } from '#platform/cache.ts'
import type { Actor } from '#store/audit/audit-entry.ts'
import { CommandFailedError, explainAwsAccess, NotConfirmedError } from '../failures.ts'
import { UsageError } from '../terminal.ts'
import type { AdminContext, CommandValues, ConfirmOptions } from './command.ts'
import { Deployment } from './deployment.ts'

/**
 * Who runs a command, for the audit log: the ARN of the AWS caller, or for a local host `user@host`.
 * @throws CommandFailedError without access to AWS.
 */
export async function readAdminActor({ local }: { readonly local: boolean }): Promise<Actor> {
  return local || isEngineLocal(process.env) ? localActor() : { name: await callerArn(), role: 'operator' }
}

/** Whether commands without `--local` use an engine in place of AWS, such as DynamoDB Local, which has no callers. */
function isEngineLocal({
  AWS_ENDPOINT_URL,
  AWS_ENDPOINT_URL_DYNAMODB,
  AWS_ENDPOINT_URL_STS,
}: NodeJS.ProcessEnv): boolean {
  return AWS_ENDPOINT_URL_DYNAMODB !== undefined && AWS_ENDPOINT_URL_STS === undefined && AWS_ENDPOINT_URL === undefined
}

async function callerArn(): Promise<string> {
  try {
    const { Arn } = await new STSClient({}).send(new GetCallerIdentityCommand({}))
    if (Arn !== undefined) {
      return Arn
    }
  } catch (error) {
    throw new CommandFailedError(explainAwsAccess(error) ?? `AWS does not say who calls: ${messageOf(error)}`, {
      cause: error,
    })
  }
  throw new CommandFailedError('AWS does not say who calls: the reply of GetCallerIdentity has no ARN')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
}

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
  const typed = await terminal.ask(`${printable(sentence)}. Go on? [y/N] `)
  if (!/^y(es)?$/i.test(typed.trim())) {
    throw new NotConfirmedError('nothing was changed')
  }
}
