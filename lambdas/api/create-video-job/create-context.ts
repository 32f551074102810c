import type { Catalogue } from '#core/catalogue/catalogue.ts'
import type { Clock } from '#platform/clock.ts'
import type { OpenBucket } from '#store/bucket/bucket.ts'
import type { TenantBudgets } from '#store/budget-moves.ts'
import type { CurrentCatalogue } from '#store/current-catalogue.ts'
import type { Table } from '#store/table/table.ts'
import type { SubmitRhythm } from './submit-rhythm.ts'

/** The clock, stores, configuration and randomness that a create needs. */
export type CreateContext = Clock & {
  readonly table: Table
  readonly openBucket: OpenBucket
  readonly catalogue: Catalogue
  /** Says which models exist for clients now. */
  readonly currentCatalogue: Pick<CurrentCatalogue, 'read'>
  /** A UUID of version 7. */
  readonly newJobId: () => string
  readonly randomHex: (bytes: number) => string
  /** The submit latency learnt from earlier creates. Default: a fixed delay before the first read. */
  readonly submitRhythm?: SubmitRhythm
  /** What earlier creates learned about the budgets of tenants; without it each of them costs a second try. */
  readonly tenantBudgets?: TenantBudgets
}
