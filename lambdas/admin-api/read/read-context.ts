import { AdminNotFoundError, HolderRateExceededError } from '#core/admin/errors.ts'
import type { Session } from '#core/admin/session.ts'
import type { Summary } from '#core/admin/summary.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { InvalidRequestError } from '#core/errors.ts'
import type { AllFigures } from '#core/measures.ts'
import { allowedTenant } from '#lambdas/admin/operation.ts'
import { sessionOf } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import type { ExecutionState } from '#platform/aws/video-executions.ts'
import type { OpenUrlSigner } from '#platform/cdn/video-urls.ts'
import type { OpenBucket } from '#store/bucket/bucket.ts'
import type { FoundTenant } from '#store/sessions/find-session.ts'
import type { Table } from '#store/table/table.ts'

/** The reads of the table, without its writes. */
export type ReadableTable = Pick<Table, 'readItem' | 'readItems' | 'queryPage'>

/** Reads the summary of all tenants. @throws SummaryNotWrittenError before the first one is written. */
export type ReadSummary = () => Promise<Summary>

/** What the operations read from. */
export type ReadContext = {
  readonly table: () => ReadableTable
  readonly summary: ReadSummary
  /** The configuration of the deployment, without switches. */
  readonly config: () => GatewayConfig
  /** Errors and latency of channels; undefined if they cannot be read. */
  readonly figures: (channels: readonly string[], nowMilliseconds: number) => Promise<AllFigures | undefined>
  /** The verifications of this instance. */
  readonly verifications: VerificationRate
  /** The state of an execution of a job. */
  readonly describeExecution: (jobId: string, restarts: number) => Promise<ExecutionState>
  readonly openBucket: OpenBucket
  readonly openSigner: OpenUrlSigner
  /** Unix milliseconds. */
  readonly now: () => number
}

/**
 * The tenant whose page is asked for: of an API key its own, whatever the request says or leaves out; else the one that `tenant` names.
 * Undefined if an admin names none.
 * @throws ForbiddenError for an API key that names another tenant.
 */
export function tenantIdIfGiven(event: ApiEvent): string | undefined {
  return allowedTenant(sessionOf(event), event.queryStringParameters?.tenant)
}

/** @throws InvalidRequestError if an admin names no tenant. */
export function tenantIdOf(event: ApiEvent): string {
  const tenantId = tenantIdIfGiven(event)
  if (tenantId === undefined) {
    throw new InvalidRequestError([{ path: 'tenant', message: '`tenant` is missing: use the id of a tenant' }])
  }
  return tenantId
}

/**
 * The tenant of a page that always has one, which was read with the session, or is that of the API key.
 * @throws InvalidRequestError if an admin names none; ForbiddenError for an API key that names another; AdminNotFoundError for an
 *   unknown tenant.
 */
export function tenantOf(event: ApiEvent): FoundTenant {
  const tenantId = tenantIdOf(event)
  const { tenant } = sessionOf(event)
  const found = tenant?.id === tenantId ? tenant : event.askedTenant
  if (found === undefined) {
    throw unknownTenant(tenantId)
  }
  return { id: found.id, name: found.name }
}

/** What of a row is for operators alone: what served a request, and why an operator moved credits. */
type OperatorFields = { readonly channel: string | null; readonly reason?: string | null }

/** A row as a session may see it: an API key sees no channel and no note of an operator. */
export function visibleRow<Row extends OperatorFields>({ role }: Session, row: Row): Row {
  if (role !== 'tenant') {
    return row
  }
  return { ...row, channel: null, ...(row.reason === undefined ? {} : { reason: null }) }
}

/** No tenant has this id. */
export function unknownTenant(tenantId: string): AdminNotFoundError {
  return new AdminNotFoundError(`no tenant ${tenantId.slice(0, 64)}`)
}

/** A verification reads a whole tenant, up to megabytes. A person who presses the button does so a few times. */
const PER_MINUTE = 6
const MINUTE_MILLISECONDS = 60_000

/** A verification takes seconds. */
const RETRY_WHILE_RUNNING_SECONDS = 5

type OfSession = { isRunning: boolean; readonly starts: number[] }

/**
 * The verifications of each session: one at a time, and six in a minute. Each instance counts by itself, because the function that reads
 * writes nothing.
 */
export class VerificationRate {
  readonly #sessions = new Map<string, OfSession>()

  /**
   * Begins a verification. @returns the function that ends it.
   * @throws HolderRateExceededError
   */
  begin(sessionId: string, nowMilliseconds: number): () => void {
    this.#forget(nowMilliseconds - MINUTE_MILLISECONDS)
    const known = this.#sessions.get(sessionId) ?? { isRunning: false, starts: [] }
    const [first = nowMilliseconds] = known.starts
    if (known.isRunning) {
      throw new HolderRateExceededError('verifications at once', RETRY_WHILE_RUNNING_SECONDS)
    }
    if (known.starts.length >= PER_MINUTE) {
      const seconds = Math.ceil((first + MINUTE_MILLISECONDS - nowMilliseconds) / 1000)
      throw new HolderRateExceededError('verifications', Math.max(1, seconds))
    }
    known.starts.push(nowMilliseconds)
    known.isRunning = true
    this.#sessions.set(sessionId, known)
    return () => {
      known.isRunning = false
    }
  }

  /** Sessions without a verification since then are forgotten, so that memory does not grow. */
  #forget(sinceMilliseconds: number): void {
    for (const [id, { isRunning, starts }] of this.#sessions) {
      const old = starts.findIndex((start) => start > sinceMilliseconds)
      starts.splice(0, old < 0 ? starts.length : old)
      if (starts.length === 0 && !isRunning) {
        this.#sessions.delete(id)
      }
    }
  }
}
