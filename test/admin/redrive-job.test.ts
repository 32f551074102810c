import { beforeEach, describe, expect, it } from '@jest/globals'
import { cancelVideoJob, redriveVideoJob } from '#lambdas/admin/jobs.ts'
import { reconcileJob } from '#lambdas/pipeline/reconcile/reconcile-job.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import type { NamedWrites } from '#store/table/table.ts'
import type { Pipeline } from '../engines/pipeline.ts'
import { type Recovery, startRecovery } from '../engines/start-engines.ts'
import { useOpened } from '../engines/use-opened.ts'
import { requireReservation, TESTER } from '../engines/video-jobs.ts'

const recovery = useOpened(startRecovery)
let pipeline: Pipeline
beforeEach(async () => {
  pipeline = await recovery.openPipeline()
})

const useMachine = (options?: Parameters<Recovery['useMachine']>[1]) => recovery.useMachine(pipeline, options)
const broken = () => Promise.reject(new Error('broken'))
const redrive = async (job: { tenantId: string; jobId: string }) =>
  redriveVideoJob(await pipeline.read(job), pipeline.context, TESTER)

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

  it('is recorded once, before the execution starts', async () => {
    const { engine } = useMachine()
    const job = await pipeline.create()
    await redrive(job)
    await engine.whenEnded(job.jobId)
    await expect(redrive(job)).rejects.toThrow('there is nothing left to do')
    const { entries } = await readAudit(pipeline.context.table, { limit: 10, targets: [job.jobId] })
    expect(entries).toMatchObject([
      { action: 'job redrive', before: { execution: job.jobId, state: 'missing' }, after: { execution: job.jobId } },
    ])
  })

  it('that breaks off before the start has an entry, and Reconcile starts the execution of its number', async () => {
    const machine = useMachine({ interpose: { Poll: broken, Fail: broken } })
    const job = await pipeline.create()
    await machine.run(job)
    const { table } = pipeline.context
    const transact = async (writes: NamedWrites) => {
      await table.transact(writes)
      recovery.executions.breakDown()
    }
    const breaking = { ...pipeline.context, table: { ...table, transact } }
    await expect(redriveVideoJob(await pipeline.read(job), breaking, TESTER)).rejects.toThrow()
    const { entries } = await readAudit(pipeline.context.table, { limit: 10, targets: [job.jobId] })
    expect(entries).toMatchObject([{ after: { execution: `${job.jobId}-1` } }])
    expect((await requireReservation(pipeline.context.table, job)).restarts).toBe(1)
    const next = useMachine()
    await reconcileJob(job, pipeline.context)
    await next.engine.whenEnded(`${job.jobId}-1`)
    expect((await pipeline.read(job)).status).toBe('succeeded')
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
    await cancelVideoJob(before, pipeline.context, TESTER)
    const redriven = redriveVideoJob(before, pipeline.context, TESTER)
    await expect(redriven).rejects.toThrow(`job ${job.jobId} has ended (failed): there is nothing left to do`)
  })
})
