import { ExecutionAlreadyExists, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { v7 as uuidv7 } from 'uuid'
import { VideoJobConflictError, VideoJobNotFoundError } from '#core/errors.ts'
import { cancelVideoJob } from '#lambdas/pipeline/cancel-video-job.ts'
import { endFailedJob } from '#lambdas/pipeline/resolve-video-job.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import type { Pipeline } from '../engines/pipeline.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { breakConnection } from '../engines/test-table.ts'

const executions = mockClient(SFNClient)

let engines: Engines
let pipeline: Pipeline
beforeAll(async () => {
  process.env.STATE_MACHINE_ARN = 'arn:aws:states:eu-west-1:111111111111:stateMachine:video-job'
  engines = await startEngines()
})
beforeEach(async () => {
  engines.reset()
  executions.reset()
  executions.on(StartExecutionCommand).resolves({})
  pipeline = await engines.pipeline()
})
afterAll(() => engines.close())

const cancel = ({ tenantId, jobId }: Pick<NewVideoJob, 'tenantId' | 'jobId'>) =>
  cancelVideoJob({ tenantId, jobId }, pipeline.context)

const started = () => executions.commandCalls(StartExecutionCommand).map(({ args: [{ input }] }) => input)

describe('cancelVideoJob', () => {
  it('marks the job, and starts an execution of its own name with the input of every execution', async () => {
    const job = await pipeline.createAccepted()
    expect(await cancel(job)).toMatchObject({ status: 'processing', cancelledAt: pipeline.clock.seconds })
    const input = JSON.stringify({ tenantId: job.tenantId, jobId: job.jobId })
    expect(started()).toMatchObject([{ name: `${job.jobId}-cancel`, input }])
  })

  it('succeeds without that execution, because the own one of the job does the same', async () => {
    executions.on(StartExecutionCommand).rejects(new Error('throttled'))
    const job = await pipeline.create()
    expect((await cancel(job)).cancelledAt).toBeDefined()
  })

  it('refuses a repetition, and starts the execution that the first request may not have started', async () => {
    const job = await pipeline.create()
    await cancel(job)
    executions.on(StartExecutionCommand).rejects(new ExecutionAlreadyExists({ message: 'it has ended', $metadata: {} }))
    await expect(cancel(job)).rejects.toBeInstanceOf(VideoJobConflictError)
    expect(started()).toHaveLength(2)
    await endFailedJob(job, pipeline.context, 'JobDeletedError')
    await expect(cancel(job)).rejects.toThrow('it was cancelled before')
    expect(started()).toHaveLength(2)
  })

  it('succeeds when its write got no response', async () => {
    const job = await pipeline.create()
    breakConnection(pipeline.context.table, 'cancelledAt')
    expect(await cancel(job)).toMatchObject({ cancelledAt: pipeline.clock.seconds })
  })

  it('refuses a job that has ended otherwise', async () => {
    const job = await pipeline.createAccepted()
    await endFailedJob(job, pipeline.context, 'TaskGoneError')
    await expect(cancel(job)).rejects.toBeInstanceOf(VideoJobConflictError)
    expect(started()).toEqual([])
  })

  it('finds no malformed, unknown, foreign or deleted job', async () => {
    const job = await pipeline.create()
    const foreign = { tenantId: uuidv7(), jobId: job.jobId }
    const malformed = { tenantId: job.tenantId, jobId: 'no-id' }
    const unknown = { tenantId: job.tenantId, jobId: uuidv7() }
    for (const key of [foreign, malformed, unknown]) {
      await expect(cancel(key)).rejects.toBeInstanceOf(VideoJobNotFoundError)
    }
    await pipeline.remove(job)
    await expect(cancel(job)).rejects.toBeInstanceOf(VideoJobNotFoundError)
  })
})
