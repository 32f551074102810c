import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { recordFailure, recordPoll, recordStored } from '#adapters/store/jobs/job-progress.ts'
import { getVideoJob } from '#adapters/store/jobs/job-reader.ts'
import type { NewVideoJob } from '#adapters/store/money/new-video-job.ts'
import { resolveReservation } from '#adapters/store/money/resolve-reservation.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { openTenant, RELEASE, requireReservation, reserveJob } from '../../../engines/video-jobs.ts'

const engine = useTestTable()
let table: TableWithClient
let job: NewVideoJob
beforeAll(async () => {
  table = engine.table
})
beforeEach(async () => {
  job = await reserveJob(table, await openTenant(table))
})

async function read(): Promise<VideoJob> {
  const record = await getVideoJob(table, job.tenantId, job.jobId)
  if (record === undefined) {
    throw new Error('no job')
  }
  return record
}

async function end(): Promise<void> {
  const reservation = await requireReservation(table, job)
  await resolveReservation(table, { job: await read(), reservation, resolution: RELEASE, nowMilliseconds: Date.now() })
}

describe('the record of a poll', () => {
  it('changes what it names and nothing else', async () => {
    await recordPoll(table, job, { pollText: { inline: '{"a":1}' } })
    await recordPoll(table, job, { goneCount: 2 })
    await recordPoll(table, job, { isCancelRefused: true, upstreamPercent: { percent: 30, since: 7 } })
    expect(await read()).toMatchObject({
      pollText: { inline: '{"a":1}' },
      goneCount: 2,
      isCancelRefused: true,
      upstreamPercent: { percent: 30, since: 7 },
      finishedAt: undefined,
    })
  })

  it('keeps one text: the newer of inline and bucket', async () => {
    await recordPoll(table, job, { pollText: { inline: 'small' } })
    await recordPoll(table, job, { pollText: { bucketKey: 'texts/large' } })
    expect((await read()).pollText).toEqual({ bucketKey: 'texts/large' })
    await recordPoll(table, job, { pollText: { inline: 'small again' } })
    expect((await read()).pollText).toEqual({ inline: 'small again' })
  })

  it('keeps the first time at which the upstream said that it finished', async () => {
    await recordPoll(table, job, { finishedAt: 10 })
    await recordPoll(table, job, { finishedAt: 20 })
    expect((await read()).finishedAt).toBe(10)
  })
})

describe('an ended job', () => {
  it('is not changed by late polls, stores and failures', async () => {
    await end()
    const before = await read()
    await recordPoll(table, job, { pollText: { inline: 'late' }, goneCount: 1, finishedAt: 1 })
    await recordStored(table, job, { durationSeconds: '5', nowSeconds: 1 })
    await recordFailure(table, job, { failure: 'late', pollText: { inline: 'late' } })
    expect(await read()).toEqual(before)
  })
})

describe('a stored video', () => {
  it('without a length in its header is stored all the same', async () => {
    await recordStored(table, job, { durationSeconds: undefined, nowSeconds: 40 })
    expect((await read()).storedDurationSeconds).toBe('')
  })

  it('keeps the first time at which it was in the bucket', async () => {
    await recordStored(table, job, { durationSeconds: '5', nowSeconds: 40 })
    await recordStored(table, job, { durationSeconds: '5', nowSeconds: 50 })
    expect((await read()).storedAt).toBe(40)
  })
})
