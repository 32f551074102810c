import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { cancelVideoJob } from '../../../lib/admin/jobs/cancel-job.ts'
import { redriveVideoJob } from '../../../lib/admin/jobs/redrive-job.ts'
import type { Pipeline } from '../../engines/create-pipeline.ts'
import { type Recovery, startRecovery } from '../../engines/start-recovery.ts'
import { requireReservation } from '../../engines/video-jobs.ts'

let recovery: Recovery
let pipeline: Pipeline
beforeAll(async () => {
  recovery = await startRecovery()
})
beforeEach(async () => {
  pipeline = await recovery.openPipeline()
})
afterAll(() => recovery.close())

const useMachine = (options?: Parameters<Recovery['useMachine']>[1]) => recovery.useMachine(pipeline, options)
const broken = () => Promise.reject(new Error('broken'))
const redrive = async (job: { tenantId: string; jobId: string }) =>
  redriveVideoJob(await pipeline.read(job), pipeline.context)

describe('redriving a job', () => {
  it('starts an execution that is missing under its first name, and the job succeeds', async () => {
    const { engine } = useMachine()
    const job = await pipeline.create()
    expect(await redrive(job)).toEqual({ execution: job.jobId, replaced: 'missing' })
    await engine.whenEnded(job.jobId)
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('replaces a broken execution by the next number, beyond the three of Reconcile too, and posts nothing twice', async () => {
    let isBroken = true
    const machine = useMachine({
      interpose: { Poll: (step) => (isBroken ? broken() : step()), Fail: (step) => (isBroken ? broken() : step()) },
    })
    const job = await pipeline.create()
    await machine.run(job)
    for (const number of [1, 2, 3, 4, 5]) {
      isBroken = number < 5
      const execution = `${job.jobId}-${number}`
      expect(await redrive(job)).toEqual({ execution, replaced: 'broken' })
      expect(await machine.engine.whenEnded(execution)).toMatchObject({ status: isBroken ? 'FAILED' : 'SUCCEEDED' })
      expect((await requireReservation(pipeline.context.table, job)).restarts).toBe(number)
    }
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(pipeline.upstream.submitted).toEqual(['main'])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('refuses a job whose execution runs, and one that has ended, with a sentence', async () => {
    const reached = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const machine = useMachine({
      interpose: {
        Poll: async (step) => {
          reached.resolve()
          await released.promise
          return await step()
        },
      },
    })
    const job = await pipeline.create()
    const ended = machine.run(job)
    await reached.promise
    await expect(redrive(job)).rejects.toThrow(`the execution ${job.jobId} runs: wait for it, or stop it first`)
    released.resolve()
    await ended
    await expect(redrive(job)).rejects.toThrow(`job ${job.jobId} has ended (succeeded): there is nothing left to do`)
    expect(machine.engine.find(`${job.jobId}-1`)).toBeUndefined()
  })

  it('that is cancelled at the same time is told how the job ended, not how it stood before', async () => {
    useMachine()
    const job = await pipeline.create()
    const before = await pipeline.read(job)
    await cancelVideoJob(before, pipeline.context)
    const redriven = redriveVideoJob(before, pipeline.context)
    await expect(redriven).rejects.toThrow(`job ${job.jobId} has ended (failed): there is nothing left to do`)
  })
})
