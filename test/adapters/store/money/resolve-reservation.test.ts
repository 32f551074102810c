import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, it } from 'vitest'
import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import { readChannelCount } from '#adapters/store/jobs/channel-load.ts'
import { getVideoJob } from '#adapters/store/jobs/job-reader.ts'
import { claimSubmit, recordAccepted, releaseSubmitClaim } from '#adapters/store/jobs/submission.ts'
import { dueReservations } from '#adapters/store/money/due-index.ts'
import type { Resolution } from '#adapters/store/money/job-resolution.ts'
import type { NewVideoJob } from '#adapters/store/money/new-video-job.ts'
import { resolveReservation } from '#adapters/store/money/resolve-reservation.ts'
import { type TableKey, tableKeys } from '#adapters/store/table/table-keys.ts'
import { JOB_RECORD_SECONDS, type VideoJob } from '#core/jobs/video-job.ts'
import { formatCredits } from '#core/money.ts'
import { auditTenant, readPartition } from '../../../engines/audit.ts'
import { breakConnection } from '../../../engines/break-connection.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { openTenant, RELEASE, requireReservation, reserveJob, settle } from '../../../engines/video-jobs.ts'

const engine = useTestTable()
let table: TableWithClient
beforeAll(async () => {
  table = engine.table
})

/** A job on a channel of its own, accepted by the upstream. */
async function processingJob(credits = '100'): Promise<NewVideoJob & { channelId: string }> {
  const job = await reserveJob(table, await openTenant(table, credits))
  const channelId = `ch-${job.jobId}`
  await claimSubmit(table, {
    job,
    channel: { id: channelId, max_open_jobs: 1, provider: 'p2' },
    nowSeconds: job.createdAt,
  })
  await recordAccepted(table, job, {
    taskId: 'task',
    submitText: { inline: '{}' },
    acceptedAt: Math.trunc(Date.now() / 1000),
  })
  return { ...job, channelId }
}

async function recordOf({ tenantId, jobId }: NewVideoJob): Promise<VideoJob> {
  const record = await getVideoJob(table, tenantId, jobId)
  if (record === undefined) {
    throw new Error('no job')
  }
  return record
}

async function resolve(job: NewVideoJob, resolution: Resolution, seen?: VideoJob) {
  return await resolveReservation(table, {
    job: seen ?? (await recordOf(job)),
    reservation: await requireReservation(table, job),
    resolution,
    nowMilliseconds: job.createdAt * 1000 + 60_000,
  })
}

async function balanceOf({ tenantId }: { tenantId: string }) {
  const { available, held, spent } = (await getTenant(table, tenantId)).balance
  return [available, held, spent].map(formatCredits)
}

async function setAttribute(key: TableKey, name: string, value: unknown): Promise<void> {
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: key,
      UpdateExpression: 'SET #name = :value',
      ExpressionAttributeNames: { '#name': name },
      ExpressionAttributeValues: { ':value': value },
    }),
  )
}

describe('a settlement', () => {
  it('bills the actual cost, gives the rest back, ends the job and frees its channel slot', async () => {
    const job = await processingJob()
    expect(await resolve(job, settle('0.5'))).toBe('resolved')
    expect(await balanceOf(job)).toEqual(['99.5', '0', '0.5'])
    expect(await recordOf(job)).toMatchObject({ status: 'succeeded', durationSeconds: '5' })
    expect(await readChannelCount(table, job.channelId)).toMatchObject({ open: 0 })
    expect(await auditTenant(table, job.tenantId)).toEqual([])
  })

  it('above the estimate takes the available balance below zero by the difference', async () => {
    const job = await processingJob('0.7')
    await resolve(job, settle('0.95'))
    expect(await balanceOf(job)).toEqual(['-0.25', '0', '0.95'])
    expect(await auditTenant(table, job.tenantId)).toEqual([])
  })

  it('of a job that was never accepted is refused', async () => {
    const job = await reserveJob(table, await openTenant(table))
    await expect(resolve(job, settle('0.5'))).rejects.toMatchObject({ code: 'changed_meanwhile' })
    expect(await balanceOf(job)).toEqual(['99.3', '0.7', '0'])
  })
})

describe('a release', () => {
  it('gives the whole estimate back and ends the job with its error', async () => {
    const job = await processingJob()
    expect(await resolve(job, RELEASE)).toBe('resolved')
    expect(await balanceOf(job)).toEqual(['100', '0', '0'])
    expect(await recordOf(job)).toMatchObject({ status: 'failed', error: 'upstream said no' })
    expect(await readChannelCount(table, job.channelId)).toMatchObject({ open: 0 })
    expect(await auditTenant(table, job.tenantId)).toEqual([])
  })

  it('of a queued job without a channel touches no channel', async () => {
    const job = await reserveJob(table, await openTenant(table))
    expect(await resolve(job, RELEASE)).toBe('resolved')
    expect(await balanceOf(job)).toEqual(['100', '0', '0'])
  })
})

describe('a resolution', () => {
  it('settling and releasing at the same time is exactly one of them', async () => {
    const job = await processingJob()
    const seen = await recordOf(job)
    const outcomes = await Promise.all([resolve(job, settle('0.5'), seen), resolve(job, RELEASE, seen)])
    expect(outcomes.toSorted()).toEqual(['conflict', 'resolved'])
    const status = (await recordOf(job)).status
    expect(await balanceOf(job)).toEqual(status === 'succeeded' ? ['99.5', '0', '0.5'] : ['100', '0', '0'])
    expect(await readChannelCount(table, job.channelId)).toMatchObject({ open: 0 })
    expect(await auditTenant(table, job.tenantId)).toEqual([])
  })

  it('ten times at once is one', async () => {
    const job = await processingJob()
    const seen = await recordOf(job)
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => resolve(job, settle('0.5'), seen)))
    expect(outcomes.filter((outcome) => outcome === 'resolved')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === 'already_resolved')).toHaveLength(9)
    expect(await balanceOf(job)).toEqual(['99.5', '0', '0.5'])
  })

  it.each([
    ['a settlement with the same cost', settle('0.5'), settle('0.5'), 'already_resolved'],
    ['a release', RELEASE, { ...RELEASE, error: 'other words' }, 'already_resolved'],
    ['a settlement with another cost', settle('0.5'), settle('0.4'), 'conflict'],
    ['a release after a settlement', settle('0.5'), RELEASE, 'conflict'],
    ['a settlement after a release', RELEASE, settle('0.5'), 'conflict'],
    ['a settlement of nothing after a release', RELEASE, settle('0'), 'conflict'],
  ] as const)('that repeats as %s keeps the first one', async (_, first, second, outcome) => {
    const job = await processingJob()
    const seen = await recordOf(job)
    await resolve(job, first, seen)
    const after = await balanceOf(job)
    expect(await resolve(job, second, seen)).toBe(outcome)
    expect(await balanceOf(job)).toEqual(after)
    expect(await auditTenant(table, job.tenantId)).toEqual([])
  })

  it('whose reply was lost is one', async () => {
    const job = await processingJob()
    const { left } = breakConnection(table, `${job.jobId}#2`)
    expect(await resolve(job, settle('0.5'))).toBe('resolved')
    expect(left()).toBe(0)
    expect(await balanceOf(job)).toEqual(['99.5', '0', '0.5'])
  })

  it('is refused when the job has moved to another channel since it was read', async () => {
    const job = await processingJob()
    await setAttribute(tableKeys.job(job.tenantId, job.jobId), 'channelId', 'elsewhere')
    const seen: VideoJob = { ...(await recordOf(job)), channelId: job.channelId }
    await expect(resolve(job, RELEASE, seen)).rejects.toMatchObject({ code: 'changed_meanwhile' })
    expect(await balanceOf(job)).toEqual(['99.3', '0.7', '0'])
  })

  it('is refused when the job was claimed since it was read', async () => {
    const job = await reserveJob(table, await openTenant(table))
    const seen = await recordOf(job)
    await claimSubmit(table, { job, channel: { id: 'ch-late', max_open_jobs: 1, provider: 'p2' }, nowSeconds: 1 })
    await expect(resolve(job, RELEASE, seen)).rejects.toMatchObject({ code: 'changed_meanwhile' })
    await releaseSubmitClaim(table, job, 'ch-late')
  })

  it('takes the reservation out of the due index', async () => {
    const job = await processingJob()
    await resolve(job, RELEASE)
    const due: unknown[] = []
    for await (const reservation of dueReservations(table, 999_999_999_999_999)) {
      due.push(reservation)
    }
    expect(due).not.toContainEqual(expect.objectContaining({ jobId: job.jobId }))
  })

  it('lets the records be collected a day after their last visible moment, and only a resolution does', async () => {
    const job = await processingJob()
    const ttls = async () => (await readPartition(table, `T#${job.tenantId}`)).map(({ ttl }) => ttl)
    expect(await ttls()).toEqual([undefined, undefined])
    await resolve(job, settle('0.5'))
    const end = job.createdAt + JOB_RECORD_SECONDS + 86_400
    expect(await ttls()).toEqual([end, end])
  })
})

describe('each guard alone', () => {
  it('of the job status keeps an ended job from a second resolution', async () => {
    const job = await processingJob()
    await setAttribute(tableKeys.job(job.tenantId, job.jobId), 'status', 'failed')
    const seen: VideoJob = { ...(await recordOf(job)), status: 'processing' }
    await expect(resolve(job, settle('0.5'), seen)).rejects.toMatchObject({ code: 'changed_meanwhile' })
    expect(await balanceOf(job)).toEqual(['99.3', '0.7', '0'])
  })

  it('of the one ledger key keeps a resolved job from a second resolution', async () => {
    const job = await processingJob()
    const seen = await recordOf(job)
    await resolve(job, RELEASE)
    await setAttribute(tableKeys.job(job.tenantId, job.jobId), 'status', 'processing')
    await setAttribute(tableKeys.reservation(job.tenantId, job.jobId), 'state', 'held')
    await setAttribute(tableKeys.balance(job.tenantId), 'held', 700_000)
    await expect(resolve(job, settle('0.5'), seen)).rejects.toMatchObject({ code: 'changed_meanwhile' })
    expect((await balanceOf(job))[2]).toBe('0')
  })

  it('of the reservation keeps a resolved job from a second resolution', async () => {
    const job = await processingJob()
    const seen = await recordOf(job)
    await resolve(job, RELEASE)
    await setAttribute(tableKeys.job(job.tenantId, job.jobId), 'status', 'processing')
    await setAttribute(tableKeys.balance(job.tenantId), 'held', 700_000)
    await table.client.send(
      new DeleteCommand({ TableName: table.name, Key: tableKeys.ledgerResolution(job.tenantId, job.jobId) }),
    )
    expect(await resolve(job, settle('0.5'), seen)).toBe('conflict')
    expect((await balanceOf(job))[2]).toBe('0')
  })

  it('of the held sum keeps a balance from going below what was locked', async () => {
    const job = await processingJob()
    await setAttribute(tableKeys.balance(job.tenantId), 'held', 699_999)
    await expect(resolve(job, RELEASE)).rejects.toMatchObject({ code: 'changed_meanwhile' })
  })
})
