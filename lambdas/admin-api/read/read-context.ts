import type { OpenUrlSigner } from '#adapters/cdn/video-url-signer.ts'
import type { OpenBucket } from '#adapters/store/bucket/video-bucket.ts'
import type { Table } from '#adapters/store/table/table.ts'

/** The reads of the table, without its writes. */
export type ReadableTable = Pick<Table, 'readItem' | 'readItems' | 'queryPage'>

/** What the operations read from. */
export type ReadContext = {
  readonly table: () => ReadableTable
  readonly openBucket: OpenBucket
  readonly openSigner: OpenUrlSigner
  /** Unix milliseconds. */
  readonly now: () => number
}
