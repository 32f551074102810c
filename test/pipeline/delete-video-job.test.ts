import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { cleanUpDeletedJob, deleteVideoJob } from '#lambdas/pipeline/delete-video-job.ts'
import { endFailedJob } from '#lambdas/pipeline/resolve-video-job.ts'
import { auditEntry } from '#store/audit/audit-entry.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { putText } from '#store/bucket/bucket.ts'
import { pendingCleanUps } from '#store/due-index.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import type { Pipeline } from '../engines/pipeline.ts'
import { startEngines } from '../engines/start-engines.ts'
import { useOpened } from '../engines/use-opened.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { openTenant, reserveJob, TESTER } from '../engines/video-jobs.ts'

describe('deleteVideoJob: a deletion by somebody else than the client', () => {
  const engine = useTestTable()

  it('is recorded once, in the transaction that hides the job', async () => {
    const { table } = engine
    const job = await reserveJob(table, await openTenant(table))
    const { tenantId, jobId } = job
    const target = { kind: 'job', id: jobId, tenantId } as const
    const remove = () => {
      const audit = auditEntry({
        actor: TESTER,
        action: 'job delete',
        target,
        before: null,
        after: null,
        at: Date.now(),
      })
      const openBucket = () => Promise.reject(new Error('an open job has no objects'))
      return deleteVideoJob(job, { table, openBucket, nowMilliseconds: Date.now, audit })
    }
    const outcomes = await Promise.allSettled([remove(), remove()])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect((await getVideoJob(table, tenantId, jobId))?.isDeleted).toBe(true)
    await expect(remove()).rejects.toThrow('video job not found')
    expect((await readAudit(table, { limit: 9, targets: [jobId] })).entries).toMatchObject([{ action: 'job delete' }])
  })
})

describe('deleteVideoJob', () => {
  const engines = useOpened(startEngines)
  const executions = mockClient(SFNClient)
  const started = () => executions.commandCalls(StartExecutionCommand).map(({ args: [{ input }] }) => input.name)
  beforeEach(() => {
    process.env.STATE_MACHINE_ARN = 'arn:aws:states:eu-west-1:111111111111:stateMachine:video-job'
    executions.reset()
  })

  it('starts the execution that asks the upstream of an open job to stop', async () => {
    const pipeline = await engines.pipeline()
    const job = await pipeline.createAccepted()
    executions.on(StartExecutionCommand).resolves({})
    await deleteVideoJob(job, pipeline.context)
    expect(started()).toEqual([`${job.jobId}-cancel`])
  })

  it('succeeds without that execution, because the own one of the job does the same', async () => {
    const pipeline = await engines.pipeline()
    const job = await pipeline.create()
    executions.on(StartExecutionCommand).rejects(new Error('throttled'))
    await deleteVideoJob(job, pipeline.context)
    expect((await pipeline.read(job)).isDeleted).toBe(true)
  })

  it('starts nothing for a job that has ended', async () => {
    const pipeline = await engines.pipeline()
    const job = await pipeline.createAccepted()
    await endFailedJob(job, pipeline.context, 'TaskGoneError')
    await deleteVideoJob(job, pipeline.context)
    expect(started()).toEqual([])
  })
})

describe('cleanUpDeletedJob', () => {
  const SUBMIT_KEY = 'texts/submit.json'
  const POLL_KEY = 'texts/poll.json'

  const engines = useOpened(startEngines)
  let pipeline: Pipeline
  let job: NewVideoJob
  beforeEach(async () => {
    pipeline = await engines.pipeline()
    job = await pipeline.create()
    for (const key of [job.videoKey, SUBMIT_KEY, POLL_KEY]) {
      await putText(engines.bucket.bucket, key, '{}')
    }
    await markDeleted(pipeline.context.table, job, pipeline.clock.milliseconds)
  })

  const texts = { submitText: { bucketKey: SUBMIT_KEY }, pollText: { bucketKey: POLL_KEY } }

  async function cleanUpAs(status: 'processing' | 'succeeded'): Promise<void> {
    await cleanUpDeletedJob(pipeline.context, { ...(await pipeline.read(job)), ...texts, status })
  }

  async function isPending(): Promise<boolean> {
    for await (const { jobId } of pendingCleanUps(pipeline.context.table, pipeline.clock.milliseconds)) {
      if (jobId === job.jobId) {
        return true
      }
    }
    return false
  }

  it('leaves nothing of an ended job in the bucket or in the index, and can be repeated', async () => {
    await cleanUpAs('succeeded')
    await cleanUpAs('succeeded')
    expect(await engines.bucket.keys()).toEqual([])
    expect(await isPending()).toBe(false)
  })

  it('keeps the replies of an open job, which decide its bill, and its mark for the next time', async () => {
    await cleanUpAs('processing')
    expect(await engines.bucket.keys()).toEqual([POLL_KEY, SUBMIT_KEY])
    expect(await isPending()).toBe(true)
  })

  it('keeps the mark while the bucket deletes nothing', async () => {
    const openBucket = () => Promise.reject(new Error('no bucket'))
    const ended = { ...(await pipeline.read(job)), status: 'succeeded' } as const
    await expect(cleanUpDeletedJob({ ...pipeline.context, openBucket }, ended)).rejects.toThrow('no bucket')
    expect(await isPending()).toBe(true)
  })
})
