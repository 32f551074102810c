import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { claimSubmit, recordAccepted } from '#store/jobs/job-progress.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import type { Table } from '#store/table/table.ts'
import { requireReservation, reserveJob, settle, type TestTenant } from './video-jobs.ts'

/** A job that was accepted and then settled in the second of its creation. `bill` in credits. */
export async function settledJob(
  table: Table,
  tenant: TestTenant,
  { bill, ...changes }: Partial<NewVideoJob> & { readonly bill: string },
): Promise<NewVideoJob> {
  const made = await reserveJob(table, tenant, changes)
  await settleJob(table, made, bill)
  return made
}

/** Lets the upstream accept an open job, and settles it, in the second of its creation unless said otherwise. `bill` in credits. */
export async function settleJob(
  table: Table,
  made: NewVideoJob,
  bill: string,
  atMilliseconds = made.createdAt * 1000,
): Promise<void> {
  const channel = { id: `ch-${made.jobId}`, max_open_jobs: 1, provider: 'p2' } as const
  await claimSubmit(table, { job: made, channel, nowSeconds: made.createdAt })
  await recordAccepted(table, made, {
    taskId: 'task',
    submitText: { inline: '{}' },
    acceptedAt: Math.trunc(Date.now() / 1000),
  })
  const job = await getVideoJob(table, made.tenantId, made.jobId)
  if (job === undefined) {
    throw new Error('no job')
  }
  const reservation = await requireReservation(table, made)
  await resolveReservation(table, { job, reservation, resolution: settle(bill), nowMilliseconds: atMilliseconds })
}
