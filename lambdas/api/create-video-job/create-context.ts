import type { Clock } from '#adapters/clock.ts'
import type { OpenBucket } from '#adapters/store/bucket/video-bucket.ts'
import type { Table } from '#adapters/store/table/table.ts'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import type { SubmitRhythm } from './submit-rhythm.ts'

/** What creating a job takes from outside. */
export type CreateContext = Clock & {
  readonly table: Table
  readonly openBucket: OpenBucket
  readonly catalogue: Catalogue
  /** A UUID of version 7. */
  readonly newJobId: () => string
  readonly randomHex: (bytes: number) => string
  /** What the creates before this one taught; without it every answer is looked for equally soon. */
  readonly submitRhythm?: SubmitRhythm
}
