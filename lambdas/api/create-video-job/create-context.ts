import type { Table } from '#adapters/stores/table.ts'
import type { Bucket } from '#adapters/stores/video-bucket.ts'
import type { Catalogue } from '#core/catalogue/catalogue.ts'

/** What creating a job takes from outside. */
export type CreateContext = {
  readonly table: Table
  readonly openBucket: () => Bucket
  readonly catalogue: Catalogue
}
