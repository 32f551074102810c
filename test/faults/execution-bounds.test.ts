import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createUpstreamHttp, type UpstreamHttp } from '#adapters/providers/video/upstream-http.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { channelWait, firstPollWait, nextPollWait } from '#core/jobs/waits.ts'
import { p2Channel } from '../adapters/providers/provider-samples.ts'
import { createVideoMachine, readVideoMachine, type StateName } from '../engines/run-video-machine.ts'
import { inTurn, succeeded } from '../engines/scripted-upstream.ts'
import { seededRandom } from '../engines/seeded-random.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { openWirePipeline, startWireUpstream, type WireUpstream } from './wire-upstream.ts'

let engines: Engines
let upstream: WireUpstream
let http: UpstreamHttp
beforeAll(async () => {
  engines = await startEngines()
  upstream = await startWireUpstream()
  http = createUpstreamHttp()
})
beforeEach(() => engines.reset())
afterAll(async () => {
  http.close()
  await Promise.all([engines.close(), upstream.stop()])
})

const { States } = readVideoMachine()

/** The pauses of a state's retries after this error, with the full jitter of the definition. */
function* jitteredPauses(state: StateName, errorName: string, random: () => number) {
  const retrier = States[state]?.Retry?.find(({ ErrorEquals }) => ErrorEquals.includes(errorName))
  const { IntervalSeconds = 1, BackoffRate = 2, MaxDelaySeconds = 0, MaxAttempts = 0 } = retrier ?? {}
  for (let attempt = 0; attempt < MaxAttempts; attempt += 1) {
    yield random() * Math.min(MaxDelaySeconds, IntervalSeconds * BackoffRate ** attempt)
  }
}

describe('a function that Lambda throttles for five minutes', () => {
  const FIVE_MINUTES = 300
  const THROTTLED = 'Lambda.TooManyRequestsException'
  const retried: StateName[] = ['Submit', 'Poll', 'Store', 'Settle', 'Fail']

  it.each(retried)('is covered by the retries of %s, whatever their jitter', (state) => {
    const sums = Array.from({ length: 2000 }, (_, seed) =>
      [...jitteredPauses(state, THROTTLED, seededRandom(seed))].reduce((sum, pause) => sum + pause, 0),
    )
    expect(Math.min(...sums)).toBeGreaterThan(FIVE_MINUTES)
  })

  it('is retried until it runs, and no job fails', async () => {
    const pipeline = await engines.pipeline()
    pipeline.upstream.script.poll = inTurn(succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3 }))
    const pauses = jitteredPauses('Poll', THROTTLED, seededRandom(1))
    let throttledFor = 0
    const Poll = async (step: () => Promise<unknown>) => {
      if (throttledFor >= FIVE_MINUTES) {
        return await step()
      }
      throttledFor += pauses.next().value ?? 0
      throw Object.assign(new Error('slow down'), { name: THROTTLED })
    }
    const machine = createVideoMachine(pipeline, { interpose: { Poll } })
    const job = await pipeline.create()
    await machine.run(job)
    expect(machine.visited.filter((state) => state === 'Poll').length).toBeGreaterThan(20)
    expect(machine.visited).not.toContain('Fail')
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await pipeline.leftovers(job)).toEqual([])
  })
})

describe('the history of an execution', () => {
  /** Step Functions ends an execution whose history grows beyond this. */
  const EVENTS_MAX = 25_000
  /** Entered and exited; a function is also scheduled, started and succeeded or failed. */
  const EVENTS_OF = new Map([
    ['Task', 5],
    ['Choice', 2],
    ['Wait', 2],
  ])
  const EVENTS_OF_A_RETRY = 3
  const HOURS_6 = 6 * 60 * 60

  /** Events of one round from a task through its choice and its wait back to a task. */
  function eventsOfRound(task: StateName, wait: string): number {
    const choice = States[task]?.Next ?? ''
    expect(States[choice]?.Choices?.map(({ Next }) => Next)).toContain(wait)
    return [task, choice, wait].reduce((sum, state) => sum + (EVENTS_OF.get(States[state]?.Type ?? '') ?? 0), 0)
  }

  /** Rounds of a job whose every wait is as short as chance can make it, until six hours are over. */
  function roundsOf(waitAfter: (elapsedSeconds: number) => number): number {
    let rounds = 0
    for (let elapsed = 0; elapsed < HOURS_6; elapsed += waitAfter(elapsed)) {
      rounds += 1
    }
    return rounds
  }

  it('has room for the longest queue, the longest deadline at the shortest poll interval, and an hour of store attempts', () => {
    const channel: VideoChannel = {
      ...p2Channel('http://127.0.0.1:9', 'direct'),
      deadline_minutes: HOURS_6 / 60,
      poll: { first_seconds: 1, interval_seconds: 1 },
    }
    const hasty = { early: 1, median: 1.01 }
    expect(firstPollWait(channel, 0, hasty)).toBe(1)
    const submits = roundsOf((waited) => channelWait(waited, 0))
    const polls = roundsOf((elapsedSeconds) =>
      nextPollWait({ channel, elapsedSeconds, openJobs: 0, random: 0, usual: hasty }),
    )
    const stores = States.Store?.Retry?.reduce((sum, { MaxAttempts = 0 }) => sum + MaxAttempts, 0) ?? 0
    const events =
      submits * eventsOfRound('Submit', 'WaitForChannel') +
      polls * eventsOfRound('Poll', 'WaitForUpstream') +
      stores * EVENTS_OF_A_RETRY
    expect(polls).toBeGreaterThan(600)
    expect(events).toBeLessThan(0.9 * EVENTS_MAX)
  })
})

describe('the state of an execution', () => {
  const HUGE = 'x'.repeat(900_000)
  const ACCEPTED = `{"id":"cgt-1","prompt":"${HUGE}"}`
  const video = () => `"content":{"video_url":"${engines.results.url('/video.mp4')}"}`

  it.each([
    ['succeeds', () => `{"id":"cgt-1","status":"succeeded",${video()},"prompt":"${HUGE}"}`, 'succeeded'],
    ['fails', () => `{"id":"cgt-1","status":"failed","error":{"message":"${HUGE}"}}`, 'failed'],
  ])(
    'holds only two ids and the next step, however large the replies of an upstream that %s',
    async (_, poll, status) => {
      upstream.play({ submits: [ACCEPTED], polls: [`{"id":"cgt-1","status":"running","prompt":"${HUGE}"}`, poll()] })
      const pipeline = await openWirePipeline(engines, { upstream, http })
      const left: unknown[] = []
      const keep = async (step: () => Promise<unknown>) => {
        try {
          const output = await step()
          left.push(output)
          return output
        } catch (error) {
          left.push({ error: error instanceof Error ? [error.name, error.message] : error })
          throw error
        }
      }
      const states: StateName[] = ['Submit', 'Poll', 'Store', 'Settle', 'Fail', 'Notify']
      const machine = createVideoMachine(pipeline, {
        interpose: Object.fromEntries(states.map((state) => [state, keep])),
      })
      const job = await pipeline.create()
      const execution = await machine.run(job)
      expect(execution).toMatchObject({
        status: 'SUCCEEDED',
        input: JSON.stringify({ tenantId: job.tenantId, jobId: job.jobId }),
      })
      expect((await pipeline.read(job)).status).toBe(status)
      expect(Math.max(...left.map((each) => JSON.stringify(each ?? null).length))).toBeLessThan(200)
    },
  )
})
