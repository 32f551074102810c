import { beforeEach, describe, expect, it } from 'vitest'
import { JobRecordMissingError, loadVideoJobRequest, requireVideoJob } from '#lambdas/pipeline/job-record.ts'
import { putText } from '#store/bucket/bucket.ts'
import type { Pipeline } from '../engines/pipeline.ts'
import { startEngines } from '../engines/start-engines.ts'
import { useOpened } from '../engines/use-opened.ts'
import { newJob, requireReservation } from '../engines/video-jobs.ts'

const engines = useOpened(startEngines)
let pipeline: Pipeline
beforeEach(async () => {
  engines.reset()
  pipeline = await engines.pipeline()
})

describe('requireVideoJob', () => {
  it('reads the job of an execution', async () => {
    const job = await pipeline.create()
    expect(await requireVideoJob(pipeline.context.table, job)).toMatchObject({ jobId: job.jobId, status: 'queued' })
  })

  it('throws JobRecordMissingError for a job that is not in the table', async () => {
    const missing = requireVideoJob(pipeline.context.table, newJob(pipeline.tenant))
    await expect(missing).rejects.toBeInstanceOf(JobRecordMissingError)
  })
})

describe('loadVideoJobRequest', () => {
  it('returns the validated request from the reservation or from the bucket', async () => {
    const inline = await pipeline.create()
    const text = JSON.stringify({ prompt: 'x'.repeat(20_000) })
    const request = { bucketKey: 'requests/tenant/large.json' }
    await putText(engines.bucket.bucket, request.bucketKey, text)
    const large = await pipeline.create({ request })
    expect(await loadVideoJobRequest(pipeline.context, inline)).toMatchObject({ prompt: 'a boat' })
    expect(await loadVideoJobRequest(pipeline.context, large)).toEqual(JSON.parse(text))
    expect((await requireReservation(pipeline.context.table, large)).request).toHaveProperty('bucketKey')
  })

  it('throws JobRecordMissingError for a job without a reservation', async () => {
    const missing = loadVideoJobRequest(pipeline.context, newJob(pipeline.tenant))
    await expect(missing).rejects.toBeInstanceOf(JobRecordMissingError)
  })
})
