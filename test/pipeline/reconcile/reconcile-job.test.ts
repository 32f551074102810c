import { beforeEach, describe, expect, it } from 'vitest'
import { reconcile } from '#lambdas/pipeline/reconcile/reconcile.ts'
import { claimSubmit } from '#store/jobs/job-progress.ts'
import { accepted, type Pipeline } from '../../engines/pipeline.ts'
import { type Recovery, startRecovery } from '../../engines/start-engines.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { requireReservation } from '../../engines/video-jobs.ts'
import type { VideoMachine } from '../../engines/video-machine.ts'

const recovery = useOpened(startRecovery)
let pipeline: Pipeline
beforeEach(async () => {
  pipeline = await recovery.openPipeline()
})

const useMachine = (options?: Parameters<Recovery['useMachine']>[1]) => recovery.useMachine(pipeline, options)
const reconcileAfter = (seconds: number) => recovery.reconcileAfter(pipeline, seconds)

const broken = () => Promise.reject(new Error('broken'))
const MINUTE = 60
const TEN_MINUTES = 600

describe('reconcile-job', () => {
  it('starts an execution that was never started, after a minute, and the job succeeds', async () => {
    const machine = useMachine()
    const job = await pipeline.create()
    await reconcileAfter(MINUTE - 1)
    expect(machine.engine.find(job.jobId)).toBeUndefined()
    await reconcileAfter(1)
    await machine.engine.whenEnded(job.jobId)
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(recovery.engines.counted()).toContain('execution_restarted')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('starts nothing beside an execution that runs, and looks again ten minutes later', async () => {
    const release = Promise.withResolvers<unknown>()
    const machine = useMachine({ interpose: { Submit: () => release.promise } })
    const job = await pipeline.create()
    const ended = machine.run(job)
    await reconcileAfter(MINUTE)
    await reconcileAfter(MINUTE)
    expect(recovery.engines.counted()).not.toContain('execution_restarted')
    expect(machine.visited).toEqual(['Submit'])
    release.resolve({ step: 'done' })
    await ended
    await reconcileAfter(TEN_MINUTES)
    expect(machine.engine.find(`${job.jobId}-1`)).toBeDefined()
    await machine.engine.whenEnded(`${job.jobId}-1`)
  })

  it('replaces a broken execution three times, by number, then ends the job and gives its money back', async () => {
    const machine = useMachine({ interpose: { Submit: broken, Fail: broken } })
    const job = await pipeline.create()
    await machine.run(job)
    for (const restart of [1, 2, 3]) {
      await reconcileAfter(TEN_MINUTES)
      expect(await machine.engine.whenEnded(`${job.jobId}-${restart}`)).toMatchObject({ status: 'FAILED' })
      expect((await requireReservation(pipeline.context.table, job)).restarts).toBe(restart)
    }
    await reconcileAfter(TEN_MINUTES)
    expect(machine.engine.find(`${job.jobId}-4`)).toBeUndefined()
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'internal error' })
    expect(recovery.engines.counted()).toContain('internal_failure')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('replaces an execution that ended well and left its reservation open', async () => {
    const machine = useMachine({
      interpose: { Submit: async (step, visit) => (visit === 1 ? { step: 'done' } : await step()) },
    })
    const job = await pipeline.create()
    await machine.run(job)
    await reconcileAfter(MINUTE)
    await machine.engine.whenEnded(`${job.jobId}-1`)
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it.each(['Submit', 'Poll', 'Store', 'Settle'] as const)(
    'finishes a job whose execution was stopped in %s',
    async (state) => {
      const finished = Promise.withResolvers<void>()
      const stopIn = async (step: () => Promise<unknown>, visit: number) => {
        if (visit > 1) {
          return await step()
        }
        machine.engine.stop(job.jobId)
        // As on AWS, the function that was invoked last runs to its end; nobody hears its answer.
        await step()
        finished.resolve()
        return { step: 'done' }
      }
      const machine: VideoMachine = useMachine({ interpose: { [state]: stopIn } })
      const job = await pipeline.create()
      expect(await machine.run(job)).toMatchObject({ status: 'ABORTED' })
      await finished.promise
      await reconcileAfter(MINUTE)
      await machine.engine.whenEnded(`${job.jobId}-1`)
      expect(pipeline.upstream.submitted).toHaveLength(1)
      expect((await pipeline.read(job)).status).toBe('succeeded')
      expect(await pipeline.leftovers(job)).toEqual([])
    },
  )

  it('never posts a job again whose submit was claimed by an execution that is gone', async () => {
    pipeline.upstream.script.submit = () => accepted()
    const machine = useMachine()
    const job = await pipeline.create()
    await claimSubmit(pipeline.context.table, {
      job,
      channel: { id: 'main', max_open_jobs: 9, provider: 'p2' },
      nowSeconds: job.createdAt,
    })
    await reconcileAfter(MINUTE)
    await machine.engine.whenEnded(job.jobId)
    expect(pipeline.upstream.submitted).toEqual([])
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'submit outcome unknown' })
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('ends a job that is overdue, whatever its execution says', async () => {
    const release = Promise.withResolvers<unknown>()
    const machine = useMachine({ interpose: { Submit: () => release.promise } })
    const job = await pipeline.create()
    const ended = machine.run(job)
    await reconcileAfter(14 * 60 * MINUTE)
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'generation timed out' })
    expect(await pipeline.leftovers(job)).toEqual([])
    release.resolve({ step: 'done' })
    await ended
  })

  it('twice at the same time does everything once', async () => {
    const machine = useMachine({ interpose: { Submit: broken, Fail: broken } })
    const job = await pipeline.create()
    await machine.run(job)
    pipeline.clock.advance(MINUTE)
    await Promise.all([reconcile(pipeline.context, { all: false }), reconcile(pipeline.context, { all: false })])
    await machine.engine.whenEnded(`${job.jobId}-1`)
    expect((await requireReservation(pipeline.context.table, job)).restarts).toBe(1)
    expect(machine.engine.find(`${job.jobId}-2`)).toBeUndefined()
  })
})
