import { AdminNotFoundError } from '#core/admin/errors.ts'
import type { Summary } from '#core/admin/summary.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { InvalidRequestError } from '#core/errors.ts'
import type { AllFigures } from '#core/measures.ts'
import { allowedTenant } from '#lambdas/admin/operation.ts'
import type { VerificationRate } from '#lambdas/admin/verification-rate.ts'
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
 * @throws InvalidRequestError if an admin names none; ForbiddenError for an API key that names another tenant.
 */
export function tenantIdOf(event: ApiEvent): string {
  const tenantId = allowedTenant(sessionOf(event), event.queryStringParameters?.tenant)
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

/** No tenant has this id. */
export function unknownTenant(tenantId: string): AdminNotFoundError {
  return new AdminNotFoundError(`no tenant ${tenantId.slice(0, 64)}`)
}
