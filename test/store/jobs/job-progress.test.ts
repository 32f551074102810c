import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { requireVideoJob } from '#lambdas/pipeline/step-context.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { readChannelCount } from '#store/jobs/channels.ts'
import {
  claimSubmit,
  recordAccepted,
  recordCheckAsked,
  recordFailure,
  recordPoll,
  recordReferenceRefused,
  recordStored,
  recordWaitingForChannel,
  releaseSubmitClaim,
} from '#store/jobs/job-progress.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { breakConnection } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant, RELEASE, requireReservation, reserveJob, type TestTenant } from '../../engines/video-jobs.ts'

describe('the submit of a job:', () => {
  const { table } = useTestTable()
  let tenant: TestTenant
  beforeAll(async () => {
    tenant = await openTenant(table, '1000')
  })

  let channels = 0
  function newChannel(max_open_jobs = 10) {
    channels += 1
    return { id: `channel-${channels}`, max_open_jobs, provider: 'p2' as const }
  }

  type Channel = ReturnType<typeof newChannel>

  const claim = (job: NewVideoJob, channel: Channel) => claimSubmit(table, { job, channel, nowSeconds: 1_000 })
  const openJobs = async ({ id }: Channel) => (await readChannelCount(table, id))?.open
  const read = ({ tenantId, jobId }: NewVideoJob) => getVideoJob(table, tenantId, jobId)
  const accept = (job: NewVideoJob, taskId = 'task') =>
    recordAccepted(table, job, { taskId, submitText: { inline: '{}' }, acceptedAt: Math.trunc(Date.now() / 1000) })

  async function end(job: NewVideoJob): Promise<void> {
    const record = await read(job)
    if (record !== undefined) {
      const reservation = await requireReservation(table, job)
      await resolveReservation(table, { job: record, reservation, resolution: RELEASE, nowMilliseconds: Date.now() })
    }
  }

  describe('claimSubmit: a claim', () => {
    it('is given to one of ten who ask at once, with one slot', async () => {
      const [job, channel] = [await reserveJob(table, tenant), newChannel()]
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => claim(job, channel)))
      expect(outcomes.filter((outcome) => outcome === 'claimed')).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === 'job_moved')).toHaveLength(9)
      expect(await openJobs(channel)).toBe(1)
      expect(await read(job)).toMatchObject({ submitState: 'sending', channelId: channel.id, submittedAt: 1_000 })
    })

    it('is given to exactly max_open_jobs of the jobs that ask at once', async () => {
      const channel = newChannel(3)
      const jobs = await Promise.all(Array.from({ length: 12 }, () => reserveJob(table, tenant)))
      const outcomes = await Promise.all(jobs.map((job) => claim(job, channel)))
      expect(outcomes.filter((outcome) => outcome === 'claimed')).toHaveLength(3)
      expect(outcomes.filter((outcome) => outcome === 'channel_full')).toHaveLength(9)
      expect(await openJobs(channel)).toBe(3)
    })

    it('is never given for a deleted or an ended job', async () => {
      const channel = newChannel()
      const [deleted, ended] = [await reserveJob(table, tenant), await reserveJob(table, tenant)]
      await markDeleted(table, deleted, Date.now())
      await end(ended)
      expect(await claim(deleted, channel)).toBe('job_moved')
      expect(await claim(ended, channel)).toBe('job_moved')
      expect(await openJobs(channel)).toBeUndefined()
    })

    it('on a full channel of a moved job says that the job moved', async () => {
      const channel = newChannel(1)
      await claim(await reserveJob(table, tenant), channel)
      const deleted = await reserveJob(table, tenant)
      await markDeleted(table, deleted, Date.now())
      expect(await claim(deleted, channel)).toBe('job_moved')
    })

    it('takes one slot when the reply of the table is lost', async () => {
      const [job, channel] = [await reserveJob(table, tenant), newChannel()]
      const { left } = breakConnection(table, channel.id)
      expect(await claim(job, channel)).toBe('claimed')
      expect(left()).toBe(0)
      expect(await openJobs(channel)).toBe(1)
    })

    it('given back frees its slot and lets the job be claimed again', async () => {
      const [job, channel, other] = [await reserveJob(table, tenant), newChannel(1), newChannel(1)]
      await claim(job, channel)
      await releaseSubmitClaim(table, job, channel.id)
      expect(await openJobs(channel)).toBe(0)
      expect(await read(job)).toMatchObject({
        submitState: undefined,
        channelId: undefined,
        isWaitingForChannel: false,
      })
      expect(await claim(job, other)).toBe('claimed')
      expect(await read(job)).toMatchObject({ channelId: other.id, isWaitingForChannel: false })
    })

    it('is given back once', async () => {
      const [job, channel] = [await reserveJob(table, tenant), newChannel()]
      await claim(await reserveJob(table, tenant), channel)
      await claim(job, channel)
      await releaseSubmitClaim(table, job, channel.id)
      await expect(releaseSubmitClaim(table, job, channel.id)).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
      expect(await openJobs(channel)).toBe(1)
    })

    it('that became an acceptance is not given back', async () => {
      const [job, channel] = [await reserveJob(table, tenant), newChannel()]
      await claim(job, channel)
      await accept(job)
      await expect(releaseSubmitClaim(table, job, channel.id)).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
      expect(await openJobs(channel)).toBe(1)
    })
  })

  describe('recordAccepted: an acceptance', () => {
    it('makes a claimed job processing, with its task and the reply', async () => {
      const [job, channel] = [await reserveJob(table, tenant), newChannel()]
      await claim(job, channel)
      expect(await accept(job)).toMatchObject({ status: 'processing', taskId: 'task', submitText: { inline: '{}' } })
    })

    it('is recorded for a job deleted meanwhile, because its task has to be cancelled or billed', async () => {
      const [job, channel] = [await reserveJob(table, tenant), newChannel()]
      await claim(job, channel)
      await markDeleted(table, job, Date.now())
      expect(await accept(job)).toMatchObject({ status: 'processing', isDeleted: true })
    })

    it('is not recorded for a job that was ended meanwhile, or never claimed', async () => {
      const [ended, unclaimed] = [await reserveJob(table, tenant), await reserveJob(table, tenant)]
      await claim(ended, newChannel())
      await end(ended)
      expect(await accept(ended)).toBeUndefined()
      expect(await accept(unclaimed)).toBeUndefined()
      expect(await read(ended)).toMatchObject({ status: 'failed', taskId: undefined })
    })

    it('of the same task may be repeated, of another task not', async () => {
      const job = await reserveJob(table, tenant)
      await claim(job, newChannel())
      await accept(job)
      expect(await accept(job)).toMatchObject({ taskId: 'task' })
      expect(await accept(job, 'another')).toBeUndefined()
      expect(await read(job)).toMatchObject({ taskId: 'task' })
    })
  })

  describe('a job waiting for a channel', () => {
    it('says so while it is queued and unclaimed only', async () => {
      const [waiting, claimed] = [await reserveJob(table, tenant), await reserveJob(table, tenant)]
      await recordWaitingForChannel(table, waiting, 'main: ECONNREFUSED')
      expect(await read(waiting)).toMatchObject({
        isWaitingForChannel: true,
        failureCause: 'main: ECONNREFUSED',
        status: 'queued',
      })
      await claim(claimed, newChannel())
      await recordWaitingForChannel(table, claimed, 'main: ECONNREFUSED')
      expect(await read(claimed)).toMatchObject({ isWaitingForChannel: false })
      await claim(waiting, newChannel())
      expect(await read(waiting)).not.toHaveProperty('failureCause')
    })
  })
})

describe('the check of references', () => {
  const { table } = useTestTable()
  let job: NewVideoJob
  beforeEach(async () => {
    job = await reserveJob(table, await openTenant(table))
  })

  const claim = () =>
    claimSubmit(table, { job, channel: { id: 'main', max_open_jobs: 99, provider: 'p2' }, nowSeconds: 1 })

  async function end(): Promise<void> {
    const record = { job: await requireVideoJob(table, job), reservation: await requireReservation(table, job) }
    await resolveReservation(table, { ...record, resolution: RELEASE, nowMilliseconds: Date.now() })
  }

  it('is asked for once, by one of many at the same time', async () => {
    const asked = await Promise.all(Array.from({ length: 5 }, () => recordCheckAsked(table, job)))
    expect(asked.filter(Boolean)).toHaveLength(1)
    expect(await recordCheckAsked(table, job)).toBe(false)
  })

  it('lets a job be submitted before it ends', async () => {
    await recordCheckAsked(table, job)
    expect(await claim()).toBe('claimed')
  })

  it('with a refused reference keeps the job from its submit, with the reason of its failure', async () => {
    await recordCheckAsked(table, job)
    expect(await recordReferenceRefused(table, job, 'not an image')).toBe(true)
    expect(await claim()).toBe('job_moved')
    expect(await getVideoJob(table, job.tenantId, job.jobId)).toMatchObject({
      status: 'queued',
      referenceCheck: 'refused',
      failure: 'not an image',
    })
  })

  it('may record a refusal again', async () => {
    await recordReferenceRefused(table, job, 'not an image')
    expect(await recordReferenceRefused(table, job, 'not an image')).toBe(true)
  })

  it.each([
    ['claimed', claim],
    ['deleted', () => markDeleted(table, job, Date.now())],
    ['ended', end],
  ] as const)('is neither made nor refuses a job that was %s', async (_, move) => {
    await move()
    expect(await recordCheckAsked(table, job)).toBe(false)
    expect(await recordReferenceRefused(table, job, 'not an image')).toBe(false)
    expect((await requireVideoJob(table, job)).referenceCheck).toBeUndefined()
  })
})

describe('the progress of a job:', () => {
  const { table } = useTestTable()
  let job: NewVideoJob
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
    await resolveReservation(table, {
      job: await read(),
      reservation,
      resolution: RELEASE,
      nowMilliseconds: Date.now(),
    })
  }

  describe('recordPoll: the record of a poll', () => {
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
})
