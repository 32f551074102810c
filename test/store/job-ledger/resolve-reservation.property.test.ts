import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { InsufficientQuotaError } from '#core/errors.ts'
import { microcredits } from '#core/money.ts'
import { reserveQuota } from '#store/job-ledger/reserve-quota.ts'
import { type Resolution, resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { claimSubmit, recordAccepted } from '#store/jobs/job-progress.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { isRefusal } from '#store/store-refusal.ts'
import type { Table } from '#store/table/table.ts'
import { grantTenant } from '#store/tenants/credits.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { auditTenant } from '../../engines/audit.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { newJob, openTenant, requireReservation, TESTER, type TestTenant } from '../../engines/video-jobs.ts'

const engine = useTestTable()

/** What may happen to a tenant's money. `job` picks one of the jobs so far. */
type Event =
  | { readonly kind: 'reserve'; readonly amount: number }
  | { readonly kind: 'accept'; readonly job: number }
  | { readonly kind: 'settle'; readonly job: number; readonly actual: number }
  | { readonly kind: 'release'; readonly job: number }
  | { readonly kind: 'grant'; readonly amount: number; readonly id: number }

const amount = fc.integer({ min: 0, max: 2_000_000 })
const job = fc.integer({ min: 0, max: 5 })
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('reserve' as const), amount }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('accept' as const), job }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('settle' as const), job, actual: amount }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), job }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('grant' as const), amount, id: fc.integer({ min: 0, max: 2 }) }),
  },
)

/** One history of one tenant. */
class History {
  readonly #table: Table
  readonly #tenant: TestTenant
  readonly #jobs: string[] = []

  constructor(table: Table, tenant: TestTenant) {
    this.#table = table
    this.#tenant = tenant
  }

  /** An id comes again with the same amount or with another, which is refused. */
  async #grant({ id, amount }: { id: number; amount: number }): Promise<void> {
    const grant = { id: `extra-${id}`, credits: microcredits(amount), actor: TESTER }
    try {
      await grantTenant(this.#table, this.#tenant.tenantId, grant)
    } catch (error) {
      if (!isRefusal(error, 'id_taken')) {
        throw error
      }
    }
  }

  async apply(step: Event): Promise<void> {
    switch (step.kind) {
      case 'reserve':
        return await this.#reserve(step.amount)
      case 'grant':
        return await this.#grant(step)
      case 'accept':
        return await this.#accept(this.#jobs[step.job])
      case 'settle':
        return await this.#resolve(this.#jobs[step.job], {
          kind: 'settle',
          actual: microcredits(step.actual),
          durationSeconds: '5',
        })
      case 'release':
        return await this.#resolve(this.#jobs[step.job], { kind: 'release', error: 'no' })
      default:
        step satisfies never
    }
  }

  async #reserve(estimate: number): Promise<void> {
    const created = newJob(this.#tenant, { estimate: microcredits(estimate) })
    try {
      await reserveQuota(this.#table, created)
      this.#jobs.push(created.jobId)
    } catch (error) {
      expect(error).toBeInstanceOf(InsufficientQuotaError)
    }
  }

  async #accept(jobId: string | undefined): Promise<void> {
    if (jobId !== undefined) {
      const { tenantId } = this.#tenant
      await claimSubmit(this.#table, {
        job: { tenantId, jobId },
        channel: { id: 'any', max_open_jobs: 1_000_000, provider: 'p2' },
        nowSeconds: 1,
      })
      await recordAccepted(
        this.#table,
        { tenantId, jobId },
        { taskId: 'task', submitText: { inline: '{}' }, acceptedAt: Math.trunc(Date.now() / 1000) },
      )
    }
  }

  async #resolve(jobId: string | undefined, resolution: Resolution): Promise<void> {
    const { tenantId } = this.#tenant
    const record = jobId === undefined ? undefined : await getVideoJob(this.#table, tenantId, jobId)
    if (record === undefined) {
      return
    }
    try {
      const reservation = await requireReservation(this.#table, record)
      await resolveReservation(this.#table, { job: record, reservation, resolution, nowMilliseconds: Date.now() })
    } catch (error) {
      expect(error).toMatchObject({ code: 'changed_meanwhile' })
    }
  }
}

describe('resolveReservation: the books of a tenant', () => {
  it('are in order after every step of any history, whatever happens at the same time', async () => {
    const batches = fc.array(fc.array(event, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(batches, async (history) => {
        const tenant = await openTenant(engine.table, '3')
        const books = new History(engine.table, tenant)
        let lastSpent = 0n
        for (const batch of history) {
          await Promise.all(batch.map((step) => books.apply(step)))
          expect(await auditTenant(engine.table, tenant.tenantId)).toEqual([])
          const { spent, held } = (await getTenant(engine.table, tenant.tenantId)).balance
          expect(held).toBeGreaterThanOrEqual(0n)
          expect(spent).toBeGreaterThanOrEqual(lastSpent)
          lastSpent = spent
        }
      }),
      { numRuns: 40 },
    )
  })
})
