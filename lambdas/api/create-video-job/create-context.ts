import type { Clock } from '#adapters/clock.ts'
import type { Table } from '#adapters/stores/table.ts'
import type { Bucket } from '#adapters/stores/video-bucket.ts'
import type { Catalogue } from '#core/catalogue/catalogue.ts'

/** What creating a job takes from outside. */
export type CreateContext = Clock & {
  readonly table: Table
  readonly openBucket: () => Bucket
  readonly catalogue: Catalogue
  /** A UUID of version 7. */
  readonly newJobId: () => string
  readonly randomHex: (bytes: number) => string
}
