import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import { putText } from '#adapters/store/bucket/video-bucket.ts'
import { recordFailure, recordPoll, recordStored } from '#adapters/store/jobs/job-progress.ts'
import { claimSubmit, recordAccepted } from '#adapters/store/jobs/submission.ts'
import { JobMovedError, resolveReservation } from '#adapters/store/money/resolve-reservation.ts'
import { formatCredits } from '#core/money/money.ts'
import { endFailedJob } from '#lambdas/pipeline/fail-video-job/fail-video-job.ts'
import { JobRecordMissingError, loadVideoJobRequest, requireVideoJob } from '#lambdas/pipeline/job-record.ts'
import { resolveVideoJob } from '#lambdas/pipeline/resolve-video-job.ts'
import type { Pipeline } from '../engines/create-pipeline.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { newJob, RELEASE, requireReservation, settle } from '../engines/video-jobs.ts'

let engines: Engines
let pipeline: Pipeline
beforeAll(async () => {
  engines = await startEngines()
})
beforeEach(async () => {
  engines.reset()
  pipeline = await engines.pipeline()
})
afterAll(() => engines.close())

async function processingJob() {
  const job = await pipeline.create()
  const { table } = pipeline.context
  await claimSubmit(table, {
    job,
    channel: { id: 'main', max_open_jobs: 9, provider: 'p2' },
    nowSeconds: job.createdAt,
  })
  await recordAccepted(table, job, { taskId: 'task', submitText: { inline: '{}' } })
  return job
}

async function spent(): Promise<string> {
  return formatCredits((await getTenant(pipeline.context.table, pipeline.tenant.tenantId)).balance.spent)
}

describe('ending a job', () => {
  it('that another resolution came before keeps the first one and raises an alarm', async () => {
    const job = await processingJob()
    const { table } = pipeline.context
    await resolveVideoJob(job, pipeline.context, async (record, reservation) => {
      const nowMilliseconds = pipeline.clock.milliseconds
      await resolveReservation(table, { job: record, reservation, resolution: settle('0.1'), nowMilliseconds })
      return settle('0.5')
    })
    expect(await spent()).toBe('0.1')
    expect(engines.counted()).toContain('resolution_conflict')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('that changed since it was read is decided anew', async () => {
    const job = await pipeline.create()
    const seen: (string | undefined)[] = []
    await resolveVideoJob(job, pipeline.context, async (record) => {
      seen.push(record.channelId)
      if (seen.length === 1) {
        await claimSubmit(pipeline.context.table, {
          job,
          channel: { id: 'main', max_open_jobs: 9, provider: 'p2' },
          nowSeconds: 1,
        })
      }
      return RELEASE
    })
    expect(seen).toEqual([undefined, 'main'])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('that keeps changing is given up after five tries, to be tried again as a whole', async () => {
    const job = await pipeline.create()
    let tries = 0
    const never = resolveVideoJob(job, pipeline.context, async () => {
      tries += 1
      return settle('0.5')
    })
    await expect(never).rejects.toBeInstanceOf(JobMovedError)
    expect(tries).toBe(5)
  })

  it('that has ended decides nothing', async () => {
    const job = await processingJob()
    await resolveVideoJob(job, pipeline.context, () => RELEASE)
    await resolveVideoJob(job, pipeline.context, () => Promise.reject(new Error('not asked')))
    expect((await pipeline.read(job)).status).toBe('failed')
  })

  it('that nobody has a record of is told apart', async () => {
    const nobody = newJob(pipeline.tenant)
    await expect(requireVideoJob(pipeline.context.table, nobody)).rejects.toBeInstanceOf(JobRecordMissingError)
    await expect(loadVideoJobRequest(pipeline.context, nobody)).rejects.toBeInstanceOf(JobRecordMissingError)
  })
})

describe('ending a job whose execution cannot go on', () => {
  it('releases it with the reason that the record holds', async () => {
    const job = await processingJob()
    await recordFailure(pipeline.context.table, job, { failure: 'no kittens' })
    await endFailedJob(job, pipeline.context, 'UpstreamFailedError')
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'no kittens' })
    expect(await spent()).toBe('0')
  })

  it.each([
    ['GenerationTimedOutError', 'generation timed out'],
    ['StoreFailedError', 'result could not be stored'],
    ['Lambda.Unknown', 'internal error'],
    [undefined, 'internal error'],
  ])('without a reason on the record takes the one that %s stands for', async (errorName, text) => {
    const job = await processingJob()
    await endFailedJob(job, pipeline.context, errorName)
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: text })
  })

  it('bills and delivers it when its video is stored', async () => {
    const job = await processingJob()
    const { table } = pipeline.context
    await recordPoll(table, job, { pollText: { inline: '{"seconds":3,"length":3}' }, finishedAt: 1 })
    await recordStored(table, job, '3.0')
    await endFailedJob(job, pipeline.context, 'Lambda.Unknown')
    expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded', durationSeconds: '3' })
    expect(await spent()).toBe('0.42')
  })

  it('removes the object of a store that died before its record', async () => {
    const job = await processingJob()
    await recordPoll(pipeline.context.table, job, { pollText: { inline: '{}' }, finishedAt: 1 })
    await putText(engines.bucket.bucket, job.videoKey, 'the video')
    await endFailedJob(job, pipeline.context, 'Lambda.Unknown')
    expect(await engines.bucket.keys(job.videoKey)).toEqual([])
    expect(await pipeline.leftovers(job)).toEqual([])
  })
})

describe('the request of a job', () => {
  it('comes back as it was validated, from the reservation or from the bucket', async () => {
    const { request: small } = newJob(pipeline.tenant)
    const inline = await pipeline.create({ request: small })
    const text = JSON.stringify({ prompt: 'x'.repeat(20_000) })
    const request = { bucketKey: 'requests/tenant/large.json' }
    await putText(engines.bucket.bucket, request.bucketKey, text)
    const large = await pipeline.create({ request })
    expect(await loadVideoJobRequest(pipeline.context, inline)).toMatchObject({ prompt: 'a boat' })
    expect(await loadVideoJobRequest(pipeline.context, large)).toEqual(JSON.parse(text))
    expect((await requireReservation(pipeline.context.table, large)).request).toHaveProperty('bucketKey')
  })
})
