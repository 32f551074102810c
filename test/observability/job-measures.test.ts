import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { logger } from '#platform/telemetry/logger.ts'
import { captureMetrics, type EmittedMetric } from '../engines/emitted-metrics.ts'
import { inTurn, running, succeeded } from '../engines/pipeline.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { CLIP, startCallbackReceiver } from '../engines/test-servers.ts'
import { createVideoMachine, startExecutions } from '../engines/video-machine.ts'
import { openCreateApi } from '../faults/create-api.ts'

const REQUEST_ID = 'request-of-this-test'

let engines: Engines
let receiver: Awaited<ReturnType<typeof startCallbackReceiver>>
let executions: Awaited<ReturnType<typeof startExecutions>>
let emitted: readonly EmittedMetric[]
let lines: number
/** Of a second job, made over the API and refused by its upstream. */
let failed: readonly EmittedMetric[]
let logged: readonly Record<string, unknown>[]

beforeAll(async () => {
  engines = await startEngines()
  receiver = await startCallbackReceiver()
  const metrics = captureMetrics()
  const kept: Record<string, unknown>[] = []
  for (const level of ['info', 'warn', 'error'] as const) {
    jest
      .spyOn(logger, level)
      .mockImplementation((...line: unknown[]) => void kept.push({ message: line[0], ...Object(line[1]) }))
  }
  const pipeline = await engines.pipeline({ config: { callback_allowlist: [receiver.origin] } })
  const busy = { kind: 'busy', reason: 'HTTP 429', retryAfterSeconds: 5 } as const
  pipeline.upstream.script.submit = (_, attempt) => (attempt < 3 ? busy : { kind: 'accepted', taskId: 't', text: '{}' })
  const success = succeeded({ video_url: engines.results.url('/video.mp4'), seconds: 3, tokens: 1000 })
  const unanswered = { kind: 'unavailable', reason: 'HTTP 500' } as const
  pipeline.upstream.script.poll = inTurn(unanswered, running(), success)
  const job = await pipeline.create({ callbackUrl: receiver.url, requestId: REQUEST_ID })
  await createVideoMachine(pipeline).run(job)
  emitted = metrics.emitted()
  lines = metrics.lines()
  logged = [...kept]
  await refuseJob()
  failed = metrics.emitted().slice(emitted.length)
})
afterAll(() => Promise.all([engines.close(), receiver.stop(), executions.close()]))

/** Its execution is run here, since the API finds nothing that would start it. */
async function refuseJob(): Promise<void> {
  executions = await startExecutions()
  const pipeline = await engines.pipeline({ config: { submit_wait_seconds: 0 } })
  pipeline.upstream.script.submit = () => ({ kind: 'rejected', message: 'not that', text: '{}' })
  const create = await openCreateApi(pipeline)
  const { text } = await create()
  await createVideoMachine(pipeline).run({ tenantId: pipeline.tenant.tenantId, jobId: JSON.parse(text).id })
}

/** The numbers of one metric for the whole service. */
function valuesOf(name: string, of = emitted): readonly number[] {
  return of
    .filter((metric) => metric.name === name && Object.keys(metric.dimensions).join() === 'service')
    .map(({ value }) => value)
}

describe('measures of a video job', () => {
  it('count a submitted and a succeeded job once', () => {
    const names = ['jobs_submitted', 'jobs_succeeded', 'jobs_failed']
    expect(names.map((name) => [name, valuesOf(name)])).toEqual([
      ['jobs_submitted', [1]],
      ['jobs_succeeded', [1]],
      ['jobs_failed', []],
    ])
  })

  it('count a created, refused and failed job once, and not as a success', () => {
    const names = ['jobs_created', 'jobs_submitted', 'jobs_succeeded', 'jobs_failed']
    expect(names.map((name) => [name, valuesOf(name, failed)])).toEqual([
      ['jobs_created', [1]],
      ['jobs_submitted', []],
      ['jobs_succeeded', []],
      ['jobs_failed', [1]],
    ])
  })

  it('include the time of each phase once, however often a phase was retried', () => {
    for (const name of ['queue_seconds', 'first_poll_seconds', 'generation_seconds', 'detection_lag_seconds']) {
      expect(valuesOf(name)).toEqual([expect.any(Number)])
      expect(valuesOf(name)[0]).toBeGreaterThan(0)
    }
    const [queue = 0] = valuesOf('queue_seconds')
    const [whole = 0] = valuesOf('job_seconds')
    expect(whole).toBeGreaterThan(queue)
  })

  it('include the video, the tokens and the bill', () => {
    expect(valuesOf('stored_bytes')).toEqual([CLIP.length])
    expect(valuesOf('store_bytes_per_second')[0]).toBeCloseTo(CLIP.length / (valuesOf('store_seconds')[0] ?? 0), 0)
    expect(valuesOf('billed_credits')).toEqual([0.42])
    expect(valuesOf('output_tokens')).toEqual([1000])
  })

  it('are one log line per group', () => {
    // Submitted, first poll, finished, stored, tokens, ended, and the callback.
    expect(lines).toBe(7)
  })

  it('have the creating request id in every line', () => {
    expect(logged.map(({ message }) => message)).toEqual(
      expect.arrayContaining(['channel busy', 'submitted', 'poll without a verdict', 'job resolved', 'callback sent']),
    )
    expect(logged.filter(({ requestId }) => requestId !== REQUEST_ID)).toEqual([])
  })

  it('include the creating request id in the callback', () => {
    expect(receiver.received.map(({ headers }) => headers['x-request-id'])).toEqual([REQUEST_ID])
  })
})
