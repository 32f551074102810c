import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createUpstreamHttp, type UpstreamHttp } from '#adapters/providers/video/upstream-http.ts'
import type { Pipeline } from '../engines/create-pipeline.ts'
import { createVideoMachine } from '../engines/run-video-machine.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { jsonReply, openWirePipeline, type Reply, startWireUpstream, type WireUpstream } from './wire-upstream.ts'

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

const ACCEPTED = '{"id":"cgt-1"}'
const success = () => JSON.stringify({ status: 'succeeded', content: { video_url: engines.results.url('/video.mp4') } })

function open(through: UpstreamHttp = http): Promise<Pipeline> {
  return openWirePipeline(engines, { upstream, http: through })
}

/** The job ended as one whose submit nobody knows the outcome of: posted so often and no more, its money back. */
async function expectUnknown(pipeline: Pipeline, job: { tenantId: string; jobId: string }, submits: number) {
  expect(upstream.seen).toEqual({ submits, polls: 0, cancels: 0 })
  expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'submit outcome unknown' })
  expect(engines.counted().filter((fact) => fact === 'upstream_orphan')).toHaveLength(1)
  expect(await pipeline.leftovers(job)).toEqual([])
}

describe('a submit whose function dies', () => {
  /** Runs a job whose first submit ends with its function, before or after the request. */
  async function dieAround(sendFirst: (send: () => Promise<unknown>) => Promise<unknown>) {
    const died = Promise.withResolvers<never>()
    const deadly: UpstreamHttp = {
      ...http,
      send: async (request) => {
        await sendFirst(() => http.send(request))
        died.reject(Object.assign(new Error('the process ended'), { name: 'Lambda.Unknown' }))
        return await new Promise(() => {})
      },
    }
    upstream.play({ submits: [ACCEPTED] })
    const pipeline = await open(deadly)
    const job = await pipeline.create()
    const start = pipeline.clock.seconds
    const Submit = (step: () => Promise<unknown>) => Promise.race([step(), died.promise])
    const machine = createVideoMachine(pipeline, {
      interpose: { Submit: (step, visit) => (visit === 1 ? Submit(step) : step()) },
    })
    await machine.run(job)
    expect(machine.visited.slice(-2)).toEqual(['Fail', 'Notify'])
    expect(pipeline.clock.seconds - start).toBeGreaterThanOrEqual(45)
    return { pipeline, job }
  }

  it('between its claim and the request is never sent, and the reservation is released', async () => {
    const { pipeline, job } = await dieAround(async () => undefined)
    await expectUnknown(pipeline, job, 0)
  })

  it('between the request and its record is not repeated, and the reservation is released', async () => {
    const { pipeline, job } = await dieAround((send) => send())
    await expectUnknown(pipeline, job, 1)
  })
})

describe('a submit that the upstream accepts', () => {
  it('with a reply after the timeout is not repeated, and the late reply changes nothing', async () => {
    const waiting = Promise.withResolvers<ServerResponse>()
    upstream.play({ submits: [(response) => waiting.resolve(response), ACCEPTED] })
    const impatient: UpstreamHttp = {
      ...http,
      send: (request) => http.send({ ...request, limits: { ...request.limits, totalMilliseconds: 200 } }),
    }
    const pipeline = await open(impatient)
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    const before = await pipeline.read(job)
    const response = await waiting.promise
    response.end(ACCEPTED)
    await upstream.allClosed()
    expect(await pipeline.read(job)).toEqual(before)
    await expectUnknown(pipeline, job, 1)
  })

  const tenMegabytes = `{"id":"cgt-1","padding":"${'x'.repeat(10_000_000)}"}`
  const ODD_ANSWERS: readonly (readonly [string, Reply])[] = [
    ['an HTML page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>done</html>')],
    ['truncated JSON in a complete reply', '{"id":"cgt-1","mode'],
    [
      'JSON in a truncated reply',
      (response) => {
        response.writeHead(200, { 'content-length': '100' })
        response.write('{"id":"cgt-1",', () => response.destroy())
      },
    ],
    ['JSON without a task', '{"status":"queued"}'],
    ['ten megabytes of JSON', tenMegabytes],
    ['nothing at all', ''],
  ]

  it.each(ODD_ANSWERS)('with a reply of %s is not repeated, and the reservation is released', async (_, answer) => {
    upstream.play({ submits: [answer, ACCEPTED] })
    const pipeline = await open()
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    await expectUnknown(pipeline, job, 1)
  })
})

describe('a submit to a busy upstream', () => {
  it('waits for Retry-After, or with its own backoff, and creates one task', async () => {
    upstream.play({
      submits: [
        jsonReply(429, '{"error":{"code":"RateLimitExceeded","message":"slow down"}}', { 'retry-after': '7' }),
        jsonReply(503, '{"error":{"code":"ServerOverloaded","message":"full"}}', { 'retry-after': '31' }),
        jsonReply(429, '{"error":{"code":"RateLimitExceeded","message":"slow down"}}'),
        ACCEPTED,
      ],
      polls: [success()],
    })
    const pipeline = await open()
    const job = await pipeline.create()
    const times: number[] = []
    const Submit = async (step: () => Promise<unknown>) => {
      times.push(pipeline.clock.seconds - job.createdAt)
      return await step()
    }
    await createVideoMachine(pipeline, { interpose: { Submit } }).run(job)
    expect(times.slice(0, 3)).toEqual([0, 7, 38])
    const ownPause = (times[3] ?? 0) - (times[2] ?? 0)
    expect(ownPause).toBeGreaterThanOrEqual(4)
    expect(ownPause).toBeLessThanOrEqual(6)
    expect(upstream.seen).toMatchObject({ submits: 4, polls: 1 })
    expect((await pipeline.read(job)).status).toBe('succeeded')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('is not repeated after an empty 503, which a proxy may have sent while the upstream accepted the task', async () => {
    upstream.play({ submits: [(response) => response.writeHead(503, { 'retry-after': '1' }).end(), ACCEPTED] })
    const pipeline = await open()
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    await expectUnknown(pipeline, job, 1)
  })
})
