import type { Summary } from '#core/admin/summary.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { AllFigures } from '#core/measures.ts'
import type { ExecutionState } from '#platform/aws/video-executions.ts'
import type { OpenUrlSigner } from '#platform/cdn/video-urls.ts'
import type { OpenBucket } from '#store/bucket/bucket.ts'
import type { Table } from '#store/table/table.ts'
import type { VerificationRate } from './verification-rate.ts'

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
