import type { OpenUrlSigner } from '#adapters/cdn/video-url-signer.ts'
import type { OpenBucket } from '#adapters/store/bucket/video-bucket.ts'
import type { Table } from '#adapters/store/table/table.ts'
import type { Summary } from '#core/console/summary.ts'

/** The reads of the table, without its writes. */
export type ReadableTable = Pick<Table, 'readItem' | 'readItems' | 'queryPage'>

/** Reads the summary of all tenants. @throws SummaryNotWrittenError before the first one is written. */
export type ReadSummary = () => Promise<Summary>

/** What the operations read from. */
export type ReadContext = {
  readonly table: () => ReadableTable
  readonly summary: ReadSummary
  readonly openBucket: OpenBucket
  readonly openSigner: OpenUrlSigner
  /** Unix milliseconds. */
  readonly now: () => number
}
