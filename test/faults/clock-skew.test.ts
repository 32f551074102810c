import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { JOB_LIFETIME_SECONDS } from '#core/jobs/video-job.ts'
import { reconcile } from '#lambdas/pipeline/reconcile/reconcile.ts'
import { claimSubmit } from '#store/jobs/job-progress.ts'
import { inTurn, type Pipeline, running, succeeded } from '../engines/pipeline.ts'
import { seededRandom } from '../engines/seeded-random.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { createVideoMachine, type StateName, startExecutions } from '../engines/video-machine.ts'

/** How far the clocks of two functions may lie on either side of the true time. */
const SKEW_SECONDS = 300
const MINUTE = 60

let engines: Engines
let executions: Awaited<ReturnType<typeof startExecutions>>
beforeAll(async () => {
  engines = await startEngines()
  executions = await startExecutions()
})
beforeEach(() => engines.reset())
afterAll(() => Promise.all([engines.close(), executions.close()]))

const STATES: readonly StateName[] = ['Submit', 'Poll', 'Store', 'Settle', 'Fail', 'Notify']

/** Each visit of a state sees a clock that is wrong by what `skewOf` says; `waits` are the seconds that visits asked for. */
function skewedMachine(pipeline: Pipeline, skewOf: (state: StateName, visit: number) => number) {
  const waits: number[] = []
  const interpose = Object.fromEntries(
    STATES.map((state) => [
      state,
      async (step: () => Promise<unknown>, visit: number) => {
        const skew = skewOf(state, visit)
        pipeline.clock.advance(skew)
        try {
          const output = await step()
          if (typeof output === 'object' && output !== null && 'waitSeconds' in output) {
            waits.push(Number(output.waitSeconds))
          }
          return output
        } finally {
          pipeline.clock.advance(-skew)
        }
      },
    ]),
  )
  return { machine: createVideoMachine(pipeline, { interpose }), waits }
}

const video = () => succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 })

function expectWaits(waits: readonly number[], longest: number): void {
  expect(waits.filter((wait) => !Number.isInteger(wait) || wait < 1 || wait > longest)).toEqual([])
}

describe('functions whose clocks are up to five minutes apart', () => {
  it.each([1, 2, 3])(
    'finish a job with positive waits, one submit, one bill and seven days of storage (seed %i)',
    async (seed) => {
      const random = seededRandom(seed)
      const pipeline = await engines.pipeline({ channels: { main: { poll: { requests_per_second: 5 } } } })
      pipeline.upstream.script.poll = inTurn(...Array.from({ length: 5 }, () => running()), video())
      const job = await pipeline.create()
      const start = pipeline.clock.seconds
      const { machine, waits } = skewedMachine(pipeline, () => Math.round((2 * random() - 1) * SKEW_SECONDS))
      expect(await machine.run(job)).toMatchObject({ status: 'SUCCEEDED' })
      expectWaits(waits, 2 * SKEW_SECONDS)
      expect(await pipeline.read(job)).toMatchObject({
        status: 'succeeded',
        expiresAt: job.createdAt + JOB_LIFETIME_SECONDS,
      })
      expect(pipeline.upstream.submitted).toHaveLength(1)
      expect(await pipeline.leftovers(job)).toEqual([])
      expect(pipeline.clock.seconds - start).toBeLessThan(20 * MINUTE)
    },
  )

  it('accept a video at the last moment, although the clock of the poll is past the deadline', async () => {
    const pipeline = await engines.pipeline()
    const job = await pipeline.create()
    const start = pipeline.clock.seconds
    let isThere = false
    pipeline.upstream.script.poll = () => (isThere ? video() : running())
    const { machine } = skewedMachine(pipeline, (state) => {
      isThere = pipeline.clock.seconds - start > 55 * MINUTE
      return state === 'Submit' ? -SKEW_SECONDS : isThere ? SKEW_SECONDS : 0
    })
    await machine.run(job)
    expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded' })
  })

  it('give up a job at most the clock skew too early or too late', async () => {
    const lifetimes: number[] = []
    for (const skew of [-SKEW_SECONDS, SKEW_SECONDS]) {
      const pipeline = await engines.pipeline()
      pipeline.upstream.script.poll = () => running()
      const job = await pipeline.create()
      const start = pipeline.clock.seconds
      const { machine, waits } = skewedMachine(pipeline, (state) => (state === 'Poll' ? skew : -skew))
      await machine.run(job)
      expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'generation timed out' })
      expect(await pipeline.leftovers(job)).toEqual([])
      expectWaits(waits, 2 * MINUTE)
      lifetimes.push(Math.round((pipeline.clock.seconds - start) / MINUTE))
    }
    expect(lifetimes).toEqual([70, 50])
  })

  it('wait for a claim from the future without negative waits, and submit once', async () => {
    const pipeline = await engines.pipeline()
    const job = await pipeline.create()
    const nowSeconds = pipeline.clock.seconds + SKEW_SECONDS
    await claimSubmit(pipeline.context.table, {
      job,
      channel: { id: 'main', max_open_jobs: 9, provider: 'p2' },
      nowSeconds,
    })
    const { machine, waits } = skewedMachine(pipeline, () => -SKEW_SECONDS)
    await machine.run(job)
    expectWaits(waits, 2 * SKEW_SECONDS + MINUTE)
    expect(waits).not.toEqual([])
    expect(pipeline.upstream.submitted).toEqual([])
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'submit outcome unknown' })
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('delay the polls of a channel by at most the clock skew', async () => {
    const pipeline = await engines.pipeline({ channels: { main: { poll: { requests_per_second: 1 } } } })
    pipeline.upstream.script.poll = inTurn(running(), video())
    const job = await pipeline.create()
    const start = pipeline.clock.seconds
    const { machine, waits } = skewedMachine(pipeline, (state, visit) =>
      state === 'Poll' && visit === 1 ? SKEW_SECONDS : 0,
    )
    await machine.run(job)
    expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded' })
    expectWaits(waits, MINUTE)
    expect(pipeline.clock.seconds - start).toBeLessThan(SKEW_SECONDS + 2 * MINUTE)
  })

  it.each([-SKEW_SECONDS, SKEW_SECONDS])('let Reconcile leave a running job alone (%i s)', async (skew) => {
    const pipeline = await engines.pipeline()
    pipeline.upstream.script.poll = inTurn(running(), running(), video())
    const job = await pipeline.create()
    const machine = createVideoMachine(pipeline, {
      interpose: {
        Poll: async (step) => {
          const nowMilliseconds = () => pipeline.clock.milliseconds + skew * 1000
          await reconcile({ ...pipeline.context, nowMilliseconds }, { all: false })
          return await step()
        },
      },
    })
    executions.use(machine)
    await machine.run(job)
    expect(engines.counted()).not.toContain('execution_restarted')
    expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded' })
    expect(await pipeline.leftovers(job)).toEqual([])
  })
})
