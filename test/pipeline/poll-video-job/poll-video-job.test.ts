import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { jobEvents } from '#core/jobs/job-events.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { loadText } from '#store/bucket/bucket.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { takePollToken } from '#store/jobs/channels.ts'
import type { PollOutcome, SubmitOutcome } from '#upstream/providers/video-account.ts'
import { accepted, inTurn, type Pipeline, running, succeeded } from '../../engines/pipeline.ts'
import { type Engines, startEngines } from '../../engines/start-engines.ts'
import { breakConnection } from '../../engines/test-table.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { createVideoMachine } from '../../engines/video-machine.ts'

describe('the Poll step: a poll', () => {
  const engines = useOpened(startEngines)
  beforeEach(() => engines.reset())

  const gone: PollOutcome = { kind: 'gone', reason: '404' }
  const unavailable: PollOutcome = { kind: 'unavailable', reason: '503' }
  const oddWord: PollOutcome = {
    kind: 'running',
    text: '{"task_status":"THINKING"}',
    isKnownStatus: false,
    statusWord: 'THINKING\u001b[2J',
  }
  const done = () => succeeded({ video_url: engines.results.url('/video.mp4') })

  type Run = {
    readonly pipeline: Pipeline
    readonly job: NewVideoJob
    readonly record: VideoJob
    readonly seconds: number
  }

  /** Runs one job whose polls have these outcomes, one after the other. */
  async function runWith(
    outcomes: readonly PollOutcome[],
    options: Parameters<Engines['pipeline']>[0] = {},
  ): Promise<Run> {
    const pipeline = await engines.pipeline(options)
    pipeline.upstream.script.poll = inTurn(...outcomes)
    const job = await pipeline.create()
    const start = pipeline.clock.seconds
    await createVideoMachine(pipeline).run(job)
    expect(await pipeline.leftovers(job)).toEqual([])
    return { pipeline, job, record: await pipeline.read(job), seconds: pipeline.clock.seconds - start }
  }

  /** What Step Functions sees of a function that was ended at its timeout. */
  function sandboxTimedOut(): Error {
    return Object.assign(new Error('timed out'), { name: 'Sandbox.Timedout' })
  }

  it('of a running task keeps the reply for readers and the job processing', async () => {
    const pipeline = await engines.pipeline()
    pipeline.upstream.script.poll = inTurn(running('{"progress":5.0}'), done())
    const job = await pipeline.create()
    const seen: VideoJob[] = []
    const Poll = async (step: () => Promise<unknown>) => {
      const next = await step()
      seen.push(await pipeline.read(job))
      return next
    }
    await createVideoMachine(pipeline, { interpose: { Poll } }).run(job)
    expect(seen[0]?.status).toBe('processing')
    expect(await loadText(pipeline.context.openBucket, seen[0]?.pollText)).toBe('{"progress":5.0}')
  })

  it('with an unknown status word leaves the job processing, counts the word and names it in the log', async () => {
    const warned = jest.spyOn(logger, 'warn')
    const { record, job } = await runWith([oddWord, oddWord, done()])
    expect(warned).toHaveBeenCalledWith(
      'unknown upstream status',
      expect.objectContaining({ jobId: job.jobId, status: 'THINKING\\u001b[2J' }),
    )
    warned.mockRestore()
    expect(record.status).toBe('succeeded')
    expect(engines.counted().filter((fact) => fact === 'unknown_upstream_status')).toHaveLength(2)
  })

  it('without a verdict for ten minutes changes nothing about the job or its price', async () => {
    const { record, pipeline, seconds } = await runWith([...Array<PollOutcome>(75).fill(unavailable), done()])
    expect(seconds).toBeGreaterThan(600)
    expect(record.status).toBe('succeeded')
    expect(pipeline.upstream.submitted).toHaveLength(1)
  })

  it('that misses the task five times in a row, none of them in the first minute, fails the job', async () => {
    const { record, seconds, pipeline } = await runWith([gone])
    expect(record).toMatchObject({ status: 'failed', error: 'upstream lost the task', goneCount: 4 })
    expect(seconds).toBeGreaterThan(60)
    expect(pipeline.upstream.polls).toBeGreaterThan(5)
  })

  it('that misses the task in the first minute only does not count at all', async () => {
    const { record } = await runWith([gone, gone, done()], {
      channels: { main: { poll: { first_seconds: 10, interval_seconds: 10 } } },
    })
    expect(record).toMatchObject({ status: 'succeeded', goneCount: 0 })
  })

  it('that finds the task again starts the count of misses anew', async () => {
    const missFourTimes = [running(), running(), running(), gone, gone, gone, gone]
    const { record } = await runWith([...missFourTimes, running(), gone, gone, gone, gone, done()])
    expect(record.status).toBe('succeeded')
  })

  it('that reports a failure fails the job with the upstream words and keeps the reply', async () => {
    const { record, pipeline } = await runWith([running(), { kind: 'failed', text: '{"e":1}', message: 'no kittens' }])
    expect(record).toMatchObject({ status: 'failed', error: 'no kittens' })
    expect(await loadText(pipeline.context.openBucket, record.pollText)).toBe('{"e":1}')
  })

  it('that reports success without a video url fails the job', async () => {
    const { record } = await runWith([succeeded({ tokens: 5 })])
    expect(record).toMatchObject({ status: 'failed', error: 'upstream result is not a video' })
    expect(engines.counted()).toContain('result_refused')
  })

  it('that once reported success is final: the upstream is not asked again', async () => {
    const pipeline = await engines.pipeline()
    pipeline.upstream.script.poll = inTurn(done(), running())
    const job = await pipeline.create()
    const Poll = async (step: () => Promise<unknown>) => {
      await step()
      return await step()
    }
    await createVideoMachine(pipeline, { interpose: { Poll } }).run(job)
    expect(pipeline.upstream.polls).toBe(1)
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('whose reads of the table are throttled for a moment costs the job nothing', async () => {
    const pipeline = await engines.pipeline()
    pipeline.upstream.script.poll = inTurn(running(), done())
    const job = await pipeline.create()
    const Poll = async (step: () => Promise<unknown>, visit: number) => {
      if (visit === 1) {
        breakConnection(pipeline.context.table, `JOB#${job.jobId}`, { kind: 'request_lost', times: 12 })
      }
      return await step()
    }
    await createVideoMachine(pipeline, { interpose: { Poll } }).run(job)
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('that times out keeps its reason and is counted once, though the function dies on a hanging cancel', async () => {
    const pipeline = await engines.pipeline({ channels: { main: { deadline_minutes: 1 } } })
    pipeline.upstream.script.poll = inTurn(running())
    const job = await pipeline.create()
    const before = engines.counted().length
    pipeline.upstream.script.cancel = () => Promise.reject(sandboxTimedOut())
    await createVideoMachine(pipeline).run(job)
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'generation timed out' })
    expect(
      engines
        .counted()
        .slice(before)
        .filter((fact) => fact === 'late_upstream_task'),
    ).toHaveLength(1)
  })

  it('after the deadline of the channel cancels the task upstream and fails the job as timed out', async () => {
    const { record, seconds, pipeline } = await runWith([running()], { channels: { main: { deadline_minutes: 3 } } })
    expect(record).toMatchObject({ status: 'failed', error: 'generation timed out' })
    expect(pipeline.upstream.cancelled).toEqual(['task-1'])
    expect(engines.counted()).toContain('late_upstream_task')
    expect(seconds).toBeGreaterThanOrEqual(180)
    expect(seconds).toBeLessThanOrEqual(182)
  })

  it('that brings the video in the second of the deadline still counts', async () => {
    const pipeline = await engines.pipeline({ channels: { main: { deadline_minutes: 1 } } })
    const job = await pipeline.create()
    pipeline.upstream.script.poll = () => {
      pipeline.clock.advance(60)
      return done()
    }
    await createVideoMachine(pipeline).run(job)
    expect((await pipeline.read(job)).status).toBe('succeeded')
  })

  it('has until the deadline after the submit, however long the job waited for a channel before', async () => {
    const pipeline = await engines.pipeline({ channels: { main: { deadline_minutes: 1 }, spare: { models: {} } } })
    const busy: SubmitOutcome = { kind: 'busy', reason: '429', retryAfterSeconds: 90 }
    pipeline.upstream.script.submit = inTurn(busy, accepted())
    pipeline.upstream.script.poll = inTurn(running(), done())
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    expect((await pipeline.read(job)).status).toBe('succeeded')
  })

  it('of a channel that left the configuration waits for it and times out at the deadline', async () => {
    const pipeline = await engines.pipeline()
    const job = await pipeline.create()
    const { catalogue } = pipeline.context
    const without = { ...catalogue, findVideoChannel: () => undefined }
    const orphaned = { ...pipeline, context: { ...pipeline.context, catalogue: without } }
    const start = pipeline.clock.seconds
    await createVideoMachine(orphaned).run(job)
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'generation timed out' })
    expect(pipeline.clock.seconds - start).toBeGreaterThanOrEqual(3600)
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('waits its turn while the channel has had its polls of this second', async () => {
    const poll = { first_seconds: 1, interval_seconds: 1, requests_per_second: 1 }
    const pipeline = await engines.pipeline({ channels: { main: { poll } } })
    pipeline.upstream.script.poll = () => running()
    const first = await pipeline.create()
    const second = await pipeline.create()
    const Poll = async (step: () => Promise<unknown>) => {
      await step()
      return { step: 'done' }
    }
    const answers: unknown[] = []
    await createVideoMachine(pipeline, { interpose: { Poll } }).run(first)
    pipeline.clock.advance(-1)
    const Throttled = async (step: () => Promise<unknown>) => {
      answers.push(await step())
      return { step: 'done' }
    }
    await createVideoMachine(pipeline, { interpose: { Poll: Throttled } }).run(second)
    expect(pipeline.upstream.polls).toBe(1)
    expect(answers).toEqual([{ step: 'poll', waitSeconds: 2 }])
  })

  it('whose function Lambda throttles for minutes is tried again, and the job succeeds', async () => {
    const pipeline = await engines.pipeline()
    pipeline.upstream.script.poll = inTurn(done())
    const job = await pipeline.create()
    const start = pipeline.clock.seconds
    const throttled = Object.assign(new Error('slow down'), { name: 'Lambda.TooManyRequestsException' })
    const Poll = (step: () => Promise<unknown>, visit: number) => (visit <= 20 ? Promise.reject(throttled) : step())
    await createVideoMachine(pipeline, { interpose: { Poll } }).run(job)
    expect(pipeline.clock.seconds - start).toBeGreaterThan(5 * 60)
    expect((await pipeline.read(job)).status).toBe('succeeded')
  })

  it('whose function times out three times over fails the job, and its money comes back', async () => {
    const pipeline = await engines.pipeline()
    const job = await pipeline.create()
    const timedOut = Object.assign(new Error('Task timed out'), { name: 'Sandbox.Timedout' })
    const machine = createVideoMachine(pipeline, { interpose: { Poll: () => Promise.reject(timedOut) } })
    await machine.run(job)
    expect(machine.visited).toEqual(['Submit', 'Poll', 'Poll', 'Poll', 'Fail', 'Notify'])
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'internal error' })
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('that was recorded and whose reply was lost goes on from the record', async () => {
    const pipeline = await engines.pipeline()
    pipeline.upstream.script.poll = inTurn(done(), running())
    const job = await pipeline.create()
    const Poll = async (step: () => Promise<unknown>, visit: number) => {
      const next = await step()
      if (visit === 1) {
        throw Object.assign(new Error('the reply was lost'), { name: 'Lambda.Unknown' })
      }
      return next
    }
    const machine = createVideoMachine(pipeline, { interpose: { Poll } })
    await machine.run(job)
    expect(machine.visited).toEqual(['Submit', 'Poll', 'Poll', 'Store', 'Settle', 'Notify'])
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it.each([
    ['negative', '-5'],
    ['not a number', 'NaN'],
    ['beyond every number', '1e309'],
    ['absurd', '1000000000000000000'],
    ['a fraction of no length', '0'],
  ])('with usage that is %s bills the locked estimate and keeps the books', async (_, seconds) => {
    const { record } = await runWith([
      succeeded({ video_url: engines.results.url('/video.mp4'), seconds, length: seconds }),
    ])
    expect(record.status).toBe('succeeded')
    expect(engines.counted().includes('billed_at_estimate')).toBe(true)
  })
})

describe('the record of a job', () => {
  const engines = useOpened(startEngines)
  beforeEach(() => engines.reset())

  it('keeps the largest percentage that the upstream reported, and when each stage was reached', async () => {
    const pipeline = await engines.pipeline()
    const polls = ['{"progress":40}', '{"progress":"30%"}', '{"status":"running"}'].map(running)
    pipeline.upstream.script.poll = inTurn(...polls, succeeded({ video_url: engines.results.url('/video.mp4') }))
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    const record = await pipeline.read(job)
    expect(record.upstreamPercent?.percent).toBe(40)
    expect(record.upstreamPercent?.since).toBeGreaterThan(record.acceptedAt ?? Number.NaN)
    const events = jobEvents(record, pipeline.clock.seconds)
    const { createdAt, submittedAt, acceptedAt, finishedAt, storedAt, endedAt } = record
    expect(events.map(({ type, at }) => [type, at])).toEqual([
      ['queued', createdAt],
      ['submitted', submittedAt],
      ['processing', acceptedAt],
      ['finished', finishedAt],
      ['stored', storedAt],
      ['progress', endedAt],
      ['settled', endedAt],
      ['succeeded', endedAt],
    ])
    expect(events.find(({ type }) => type === 'settled')?.cost).toBe(await pipeline.spent())
  })
})

describe('a job of a crowded channel', () => {
  const engines = useOpened(startEngines)

  it('that got no token at its deadline is not given up before it has had its poll', async () => {
    const poll = { first_seconds: 40, interval_seconds: 30, requests_per_second: 1 }
    const pipeline = await engines.pipeline({ channels: { main: { deadline_minutes: 1, poll } } })
    pipeline.upstream.script.poll = () => succeeded({ video_url: engines.results.url('/video.mp4') })
    const { table } = pipeline.context
    const Poll = async (step: () => Promise<unknown>, visit: number) => {
      const nowMilliseconds = pipeline.clock.milliseconds
      for (let taken = 0; visit < 14 && taken < 3; taken += 1) {
        await takePollToken(table, { channelId: 'main', perSecond: 1, nowMilliseconds })
      }
      return await step()
    }
    const job = await pipeline.create()
    await createVideoMachine(pipeline, { interpose: { Poll } }).run(job)
    expect(pipeline.upstream.polls).toBe(1)
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('that never gets a token is given up a minute after its deadline', async () => {
    const poll = { first_seconds: 40, interval_seconds: 30, requests_per_second: 1 }
    const pipeline = await engines.pipeline({ channels: { main: { deadline_minutes: 1, poll } } })
    const { table } = pipeline.context
    const Poll = async (step: () => Promise<unknown>) => {
      const nowMilliseconds = pipeline.clock.milliseconds
      for (let taken = 0; taken < 3; taken += 1) {
        await takePollToken(table, { channelId: 'main', perSecond: 1, nowMilliseconds })
      }
      return await step()
    }
    const job = await pipeline.create()
    await createVideoMachine(pipeline, { interpose: { Poll } }).run(job)
    expect(pipeline.upstream.polls).toBe(0)
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'generation timed out' })
    expect(await pipeline.leftovers(job)).toEqual([])
  })
})
