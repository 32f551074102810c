import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { claimSubmit, recordAccepted, recordFailure } from '#store/jobs/job-progress.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import type { Table } from '#store/table/table.ts'
import { requireReservation, reserveJob, type TestTenant } from '../../engines/video-jobs.ts'

const SECRET_URL = 'https://hooks.example/secret'

/** A job that its upstream refused after two seconds. Its callback, request, response and errors hold the word "secret". */
export async function failedJob(table: Table, tenant: TestTenant) {
  const job = await reserveJob(table, tenant, {
    callbackUrl: SECRET_URL,
    request: { inline: '{"prompt":"a secret"}' },
    requestId: 'request-1',
  })
  await claimSubmit(table, {
    job,
    channel: { id: 'main', max_open_jobs: 9, provider: 'p2' },
    nowSeconds: job.createdAt,
  })
  await recordAccepted(table, job, {
    taskId: 'task-7',
    submitText: { inline: '{"secret":1}' },
    acceptedAt: Math.trunc(Date.now() / 1000),
  })
  await recordFailure(table, job, { failure: 'no', cause: `HTTP 401 at ${SECRET_URL}` })
  const processing = await getVideoJob(table, job.tenantId, job.jobId)
  if (processing === undefined) {
    throw new Error('no job')
  }
  await resolveReservation(table, {
    job: processing,
    reservation: await requireReservation(table, job),
    resolution: { kind: 'release', error: `cannot read ${SECRET_URL}?a=b of yours` },
    nowMilliseconds: job.createdAt * 1000 + 2_000,
  })
  return job
}
