import { beforeEach, describe, expect, it } from 'vitest'
import { ServiceUnavailableError } from '#core/errors.ts'
import { endFailedJob, failVideoJob } from '#lambdas/pipeline/fail-video-job.ts'
import { putText } from '#store/bucket/bucket.ts'
import { recordFailure, recordPoll, recordStored } from '#store/jobs/job-progress.ts'
import type { Pipeline } from '../engines/pipeline.ts'
import { startEngines } from '../engines/start-engines.ts'
import { useOpened } from '../engines/use-opened.ts'
import { createVideoMachine } from '../engines/video-machine.ts'

const engines = useOpened(startEngines)
let pipeline: Pipeline
beforeEach(async () => {
  engines.reset()
  pipeline = await engines.pipeline()
})

describe('failVideoJob', () => {
  it.each([
    ['that a step returned', { next: { error: 'TaskGoneError' } }, 'upstream lost the task'],
    ['that an earlier definition caught', { failure: { Error: 'TaskGoneError' } }, 'upstream lost the task'],
    [
      'of no expected kind, before what a step returned',
      { failure: { Error: 'TypeError' }, next: { error: 'TaskGoneError' } },
      'internal error',
    ],
  ])('ends the job with the text of the failure %s', async (_, found, error) => {
    const job = await pipeline.createAccepted()
    expect(await failVideoJob({ ...job, ...found }, pipeline.context)).toEqual({ step: 'done' })
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error })
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('that cannot work ends the execution as FAILED, and Reconcile finds the reservation open', async () => {
    const job = await pipeline.create()
    const unavailable = () => Promise.reject(new ServiceUnavailableError())
    const broken: unknown[] = []
    const machine = createVideoMachine(pipeline, {
      interpose: { Submit: unavailable, Fail: unavailable },
      onBroken: ({ name, status, error }) => broken.push([name, status, error]),
    })
    await machine.run(job)
    expect(broken).toEqual([[job.jobId, 'FAILED', 'ServiceUnavailableError']])
    expect(machine.visited.filter((state) => state === 'Fail')).toHaveLength(7)
    expect(await pipeline.leftovers(job)).toEqual(['the reservation is open', `the due index holds ${job.jobId}`])
  })
})

describe('endFailedJob: a job whose execution cannot go on', () => {
  it('is released with the reason on its record', async () => {
    const job = await pipeline.createAccepted()
    await recordFailure(pipeline.context.table, job, { failure: 'no kittens' })
    await endFailedJob(job, pipeline.context, 'UpstreamFailedError')
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'no kittens' })
    expect(await pipeline.spent()).toBe('0')
  })

  it.each([
    ['GenerationTimedOutError', 'generation timed out'],
    ['StoreFailedError', 'result could not be stored'],
    ['Lambda.Unknown', 'internal error'],
    [undefined, 'internal error'],
  ])('without a reason on its record gets the text of %s', async (errorName, text) => {
    const job = await pipeline.createAccepted()
    await endFailedJob(job, pipeline.context, errorName)
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: text })
  })

  it('is billed and delivered when its video is stored', async () => {
    const job = await pipeline.createAccepted()
    const { table } = pipeline.context
    await recordPoll(table, job, { pollText: { inline: '{"seconds":3,"length":3}' }, finishedAt: 1 })
    await recordStored(table, job, { durationSeconds: '3.0', nowSeconds: 2 })
    await endFailedJob(job, pipeline.context, 'Lambda.Unknown')
    expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded', durationSeconds: '3' })
    expect(await pipeline.spent()).toBe('0.42')
  })

  it('loses the object of a Store that died before its record', async () => {
    const job = await pipeline.createAccepted()
    await recordPoll(pipeline.context.table, job, { pollText: { inline: '{}' }, finishedAt: 1 })
    await putText(engines.bucket.bucket, job.videoKey, 'the video')
    await endFailedJob(job, pipeline.context, 'Lambda.Unknown')
    expect(await engines.bucket.keys(job.videoKey)).toEqual([])
    expect(await pipeline.leftovers(job)).toEqual([])
  })
})
