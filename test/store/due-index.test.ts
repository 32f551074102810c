import { beforeEach, describe, expect, it } from '@jest/globals'
import { dueReservations, pendingCleanUps, postponeReservation } from '#store/due-index.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { markDeleted, recordCleanedUp } from '#store/jobs/cancel-and-delete.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import type { Table } from '#store/table/table.ts'
import type { JobKey } from '#store/table/table-keys.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { openTenant, RELEASE, requireReservation, reserveJob, type TestTenant } from '../engines/video-jobs.ts'

const NOW = Math.trunc(Date.now() / 1000)

const engine = useTestTable()
let table: Table
let tenant: TestTenant
beforeEach(async () => {
  table = await engine.fresh()
  tenant = await openTenant(table, '1000')
})

async function collect(keys: AsyncGenerator<JobKey>): Promise<string[]> {
  const found: string[] = []
  for await (const key of keys) {
    expect(key.tenantId).toBe(tenant.tenantId)
    found.push(key.jobId)
  }
  return found.toSorted()
}

const dueAt = (seconds: number) => collect(dueReservations(table, seconds * 1000))
const cleanUpsAt = (seconds: number) => collect(pendingCleanUps(table, seconds * 1000))

describe('the index of what is due', () => {
  it('names every open reservation from a minute after its creation on', async () => {
    const jobs = await Promise.all(Array.from({ length: 40 }, () => reserveJob(table, tenant, { createdAt: NOW })))
    expect(await dueAt(NOW + 59)).toEqual([])
    expect(await dueAt(NOW + 60)).toEqual(jobs.map(({ jobId }) => jobId).toSorted())
  })

  it('names a postponed reservation again when its time has come, and keeps the count of restarts', async () => {
    const job = await reserveJob(table, tenant, { createdAt: NOW })
    await postponeReservation(table, job, { untilMilliseconds: (NOW + 600) * 1000, restarts: 2 })
    expect(await dueAt(NOW + 599)).toEqual([])
    expect(await dueAt(NOW + 600)).toEqual([job.jobId])
    expect((await requireReservation(table, job)).restarts).toBe(2)
  })

  it('never takes a resolved reservation in again', async () => {
    const job = await reserveJob(table, tenant, { createdAt: NOW })
    const record = await getVideoJob(table, job.tenantId, job.jobId)
    if (record === undefined) {
      throw new Error('no job')
    }
    const reservation = await requireReservation(table, job)
    await resolveReservation(table, { job: record, reservation, resolution: RELEASE, nowMilliseconds: NOW * 1000 })
    await postponeReservation(table, job, { untilMilliseconds: NOW * 1000, restarts: 1 })
    expect((await requireReservation(table, job)).restarts).toBe(0)
    expect(await dueAt(NOW + 10_000)).toEqual([])
  })

  it('names deleted jobs, whose reservation stays due, until they are cleaned up', async () => {
    const job = await reserveJob(table, tenant, { createdAt: NOW })
    await markDeleted(table, job, NOW * 1000)
    expect(await cleanUpsAt(NOW)).toEqual([job.jobId])
    expect(await dueAt(NOW + 60)).toEqual([job.jobId])
    await recordCleanedUp(table, { ...job, isDeleted: true })
    expect(await cleanUpsAt(NOW + 10_000)).toEqual([])
    expect(await dueAt(NOW + 60)).toEqual([job.jobId])
  })
})
