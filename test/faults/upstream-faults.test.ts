import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { formatCredits } from '#core/money.ts'
import { createJobRenderer } from '#lambdas/pipeline/render-video-job.ts'
import { systemClock } from '#platform/clock.ts'
import type { WholeLimits } from '#platform/http/http-client.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import {
  CANCEL_LIMITS,
  createUpstreamHttp,
  POLL_LIMITS,
  SUBMIT_LIMITS,
  type UpstreamHttp,
} from '#upstream/providers/upstream-http.ts'
import type { Pipeline } from '../engines/pipeline.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { createVideoMachine, startExecutions } from '../engines/video-machine.ts'
import { type Loopback, listenHttp } from '../platform/http/loopback.ts'
import { type Misbehaviour, misbehave } from '../upstream/guard/misbehaving-servers.ts'
import { openCreateApi } from './create-api.ts'
import { hurried } from './hurried-time.ts'
import { jsonReply, openWirePipeline, type Reply, startWireUpstream, type WireUpstream } from './wire-upstream.ts'

describe('submit faults', () => {
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
  const success = () =>
    JSON.stringify({ status: 'succeeded', content: { video_url: engines.results.url('/video.mp4') } })

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
})

describe('poll faults', () => {
  let engines: Engines
  let upstream: WireUpstream
  let http: UpstreamHttp
  const fetched: string[] = []
  beforeAll(async () => {
    engines = await startEngines({
      '/second.mp4': (_request, response) => {
        fetched.push('second')
        response.writeHead(404).end()
      },
    })
    upstream = await startWireUpstream()
    http = createUpstreamHttp()
  })
  beforeEach(() => engines.reset())
  afterAll(async () => {
    http.close()
    await Promise.all([engines.close(), upstream.stop()])
  })

  /** What each provider says of a task, by a word of its own. */
  const says = {
    p1: (word: string) => `{"output":{"task_id":"t1","task_status":"${word}"}}`,
    p2: (word: string) => `{"id":"t1","status":"${word}"}`,
  }
  const SUBMITTED = { p1: '{"output":{"task_id":"t1","task_status":"PENDING"}}', p2: '{"id":"t1"}' }

  /** A success answer of P2; `members` are JSON text. */
  function succeeded(
    members = '"duration":3',
    urls = `"content":{"video_url":"${engines.results.url('/video.mp4')}"}`,
  ) {
    return `{"id":"t1","status":"succeeded",${urls},${members}}`
  }

  function succeededP1(duration: string): string {
    const output = `{"task_id":"t1","task_status":"SUCCEEDED","video_url":"${engines.results.url('/video.mp4')}"}`
    return `{"output":${output},"usage":{"duration":${duration},"SR":720}}`
  }

  const done = { p1: () => succeededP1('3'), p2: () => succeeded() }

  type Changes = Parameters<Pipeline['create']>[0]
  type Ended = {
    readonly record: VideoJob
    readonly seconds: number
    readonly spent: string
    readonly visited: string[]
  }

  /** Runs one job to its end: one submit, nothing left open. */
  async function run(
    pipeline: Pipeline,
    changes?: Changes,
    Poll = (step: () => Promise<unknown>) => step(),
  ): Promise<Ended> {
    const job = await pipeline.create(changes)
    const machine = createVideoMachine(pipeline, { interpose: { Poll } })
    await machine.run(job)
    expect(upstream.seen.submits).toBe(1)
    expect(await pipeline.leftovers(job)).toEqual([])
    const { balance } = await getTenant(pipeline.context.table, job.tenantId)
    const seconds = pipeline.clock.seconds - job.createdAt
    return { record: await pipeline.read(job), seconds, spent: formatCredits(balance.spent), visited: machine.visited }
  }

  type Polls = { readonly provider?: 'p1' | 'p2'; readonly polls?: readonly Reply[] }

  async function open({ provider = 'p2', polls = ['{}'] }: Polls): Promise<Pipeline> {
    upstream.play({ submits: [SUBMITTED[provider]], polls })
    return await openWirePipeline(engines, { upstream, http, provider })
  }

  const TOKENS = [{ resolution: 'any', audio: 'any', video_input: 'any', price: '7' }] as const
  const BY_TOKENS: Changes = { snapshot: { billing: 'token', prices: TOKENS, quantityMax: 1_000_000_000 } }

  describe('an upstream that returns HTTP 500 to polls for ten minutes', () => {
    it('does not affect the job, which succeeds and is billed by the reported usage', async () => {
      const pipeline = await open({})
      const end = pipeline.clock.seconds + 600
      const answer: Reply = (response) =>
        pipeline.clock.seconds < end
          ? response.writeHead(500, { 'content-type': 'text/html' }).end('<html>')
          : response.writeHead(200).end(succeeded())
      upstream.play({ submits: [SUBMITTED.p2], polls: [answer] })
      const { record, seconds, spent } = await run(pipeline)
      expect(seconds).toBeGreaterThanOrEqual(600)
      expect(upstream.seen.polls).toBeGreaterThan(10)
      expect([record.status, spent]).toEqual(['succeeded', '0.42'])
    })
  })

  describe('an upstream that does not find an accepted task', () => {
    const UNKNOWN = {
      p1: says.p1('UNKNOWN'),
      p2: jsonReply(404, '{"error":{"code":"ResourceNotFound","message":"not found"}}'),
    }

    it.each(['p1', 'p2'] as const)('is polled again until the task appears (%s)', async (provider) => {
      const { record, spent } = await run(await open({ provider, polls: [UNKNOWN[provider], done[provider]()] }))
      expect([record.status, spent]).toEqual(['succeeded', '0.42'])
    })

    it.each(['p1', 'p2'] as const)(
      'fails the job after five such polls and releases its reservation (%s)',
      async (provider) => {
        const { record, seconds, spent } = await run(await open({ provider, polls: [UNKNOWN[provider]] }))
        expect(record).toMatchObject({ status: 'failed', error: 'upstream lost the task' })
        expect([upstream.seen.polls >= 5, seconds >= 60, spent]).toEqual([true, true, '0'])
      },
    )
  })

  describe('an undocumented status word', () => {
    it.each(['p1', 'p2'] as const)('keeps the job processing and is counted at each poll (%s)', async (provider) => {
      const word = says[provider]('THINKING')
      const { record, visited } = await run(await open({ provider, polls: [word, word, done[provider]()] }))
      expect(visited).toEqual(['Submit', 'Poll', 'Poll', 'Poll', 'Store', 'Settle', 'Notify'])
      expect(record.status).toBe('succeeded')
      expect(engines.counted().filter((fact) => fact === 'unknown_upstream_status')).toHaveLength(2)
    })
  })

  describe('a success that the upstream later withdraws', () => {
    it('is final, whatever later polls return and however often the step runs', async () => {
      const pipeline = await open({ polls: [succeeded(), says.p2('running')] })
      let polled = 0
      const Poll = async (step: () => Promise<unknown>) => {
        polled += 1
        const next = await step()
        return polled === 1 ? await Promise.reject(Object.assign(new Error('lost'), { name: 'Lambda.Unknown' })) : next
      }
      const { record, visited } = await run(pipeline, {}, Poll)
      expect(visited).toEqual(['Submit', 'Poll', 'Poll', 'Store', 'Settle', 'Notify'])
      expect([record.status, upstream.seen.polls]).toEqual(['succeeded', 1])
    })
  })

  describe('a success reply', () => {
    it('without a url fails the job and releases its reservation', async () => {
      const { record, spent } = await run(await open({ polls: [succeeded('"duration":3', '"content":{}')] }))
      expect(record).toMatchObject({ status: 'failed', error: 'upstream result is not a video' })
      expect(spent).toBe('0')
    })

    it('with two urls has only the first one fetched', async () => {
      const urls = ['/video.mp4', '/second.mp4'].map((path) => `{"url":"${engines.results.url(path)}"}`)
      const { record } = await run(await open({ polls: [succeeded('"duration":3', `"data":[${urls.join()}]`)] }))
      expect([record.status, fetched]).toEqual(['succeeded', []])
    })

    it.each(['"usage":{}', '"usage":null', '"seed":1'])('with %s is billed at the reserved estimate', async (usage) => {
      const { record, spent } = await run(await open({ polls: [succeeded(usage)] }), BY_TOKENS)
      expect([record.status, spent]).toEqual(['succeeded', '0.7'])
      expect(engines.counted()).toContain('billed_at_estimate')
      expect(engines.counted()).not.toContain('usage_refused')
    })
  })

  describe('usage in upstream replies', () => {
    it.each(['-5', '1e309', '1e18', '"many"'])(
      'of %s is refused with a counted fact and billed at the reserved estimate',
      async (tokens) => {
        const logged = jest.spyOn(logger, 'error')
        const { spent } = await run(
          await open({ polls: [succeeded(`"usage":{"completion_tokens":${tokens}}`)] }),
          BY_TOKENS,
        )
        expect(spent).toBe('0.7')
        expect(engines.counted()).toEqual(expect.arrayContaining(['usage_refused', 'billed_at_estimate']))
        expect(logged).toHaveBeenCalledWith(
          'the upstream reported a usage that cannot be and was not billed by it',
          expect.objectContaining({ completionTokens: String(JSON.parse(tokens)) }),
        )
        logged.mockRestore()
      },
    )

    it('of "12" is read as a number', async () => {
      const { spent } = await run(await open({ polls: [succeeded('"usage":{"completion_tokens":"12"}')] }), BY_TOKENS)
      expect(spent).toBe('0.000084')
      expect(engines.counted()).not.toContain('usage_refused')
    })

    it('of NaN makes the reply invalid JSON, and the poll is repeated', async () => {
      const polls = [succeeded('"usage":{"completion_tokens":NaN}'), succeeded('"usage":{"completion_tokens":50000}')]
      const { record, spent } = await run(await open({ polls }), BY_TOKENS)
      expect([record.status, spent, upstream.seen.polls]).toEqual(['succeeded', '0.35', 2])
    })

    it.each([
      ['p1', '4.999', '0.69986', '4.999'],
      ['p2', '4.999', '0.69986', '4.999'],
      ['p1', '0', '0.42', '3'],
      ['p2', '0', '0.42', '3'],
    ] as const)('of %s, a duration of %s, is billed exactly: %s', async (provider, duration, cost, length) => {
      const answer = provider === 'p1' ? succeededP1(duration) : succeeded(`"duration":${duration}`)
      const { record, spent } = await run(await open({ provider, polls: [answer] }))
      expect([spent, record.durationSeconds]).toEqual([cost, length])
    })
  })
})

describe('an upstream key replaced while functions cache the old one', () => {
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

  const REFUSED = jsonReply(401, '{"error":{"code":"AuthenticationError","message":"the API key is wrong"}}')
  const ACCEPTED = '{"id":"cgt-1"}'
  const success = () =>
    JSON.stringify({ status: 'succeeded', content: { video_url: engines.results.url('/video.mp4') } })
  const open = (through = http) =>
    openWirePipeline(engines, { upstream, http: through, renewedCredential: async () => 'new key' })

  it('fails no job: submit and poll are repeated once, with one task and one billed video', async () => {
    upstream.play({ submits: [REFUSED, ACCEPTED], polls: [REFUSED, success()] })
    const pipeline = await open()
    const job = await pipeline.create()
    const machine = createVideoMachine(pipeline)
    await machine.run(job)
    expect(await pipeline.read(job)).toMatchObject({ status: 'succeeded' })
    expect(upstream.seen).toEqual({ submits: 2, polls: 2, cancels: 0 })
    expect(machine.visited.filter((state) => state === 'Submit' || state === 'Poll')).toEqual(['Submit', 'Poll'])
    expect(engines.counted()).not.toContain('channel_refused')
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('disables the channel and releases the reservation if the new key is refused too', async () => {
    upstream.play({ submits: [REFUSED, REFUSED, ACCEPTED] })
    const pipeline = await open()
    const job = await pipeline.create()
    await createVideoMachine(pipeline).run(job)
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'no upstream capacity' })
    expect(upstream.seen.submits).toBe(2)
    expect(engines.counted().filter((fact) => fact === 'channel_refused')).toHaveLength(1)
    expect(await pipeline.leftovers(job)).toEqual([])
  })

  it('causes no second task if the function dies after the second submit, whose outcome is unknown', async () => {
    upstream.play({ submits: [REFUSED, ACCEPTED, ACCEPTED] })
    const died = Promise.withResolvers<never>()
    const deadly: UpstreamHttp = {
      ...http,
      send: async (request) => {
        const answer = await http.send(request)
        if (answer.kind === 'response' && answer.status === 200) {
          died.reject(Object.assign(new Error('the process ended'), { name: 'Lambda.Unknown' }))
          return await new Promise(() => {})
        }
        return answer
      },
    }
    const pipeline = await open(deadly)
    const job = await pipeline.create()
    const interpose = {
      Submit: (step: () => Promise<unknown>, visit: number) =>
        visit === 1 ? Promise.race([step(), died.promise]) : step(),
    }
    await createVideoMachine(pipeline, { interpose }).run(job)
    expect(await pipeline.read(job)).toMatchObject({ status: 'failed', error: 'submit outcome unknown' })
    expect(upstream.seen).toEqual({ submits: 2, polls: 0, cancels: 0 })
    expect(await pipeline.leftovers(job)).toEqual([])
  })
})

describe('passthrough bytes', () => {
  let engines: Engines
  let executions: Awaited<ReturnType<typeof startExecutions>>
  let upstream: WireUpstream
  const http = createUpstreamHttp()
  beforeAll(async () => {
    engines = await startEngines()
    executions = await startExecutions()
    upstream = await startWireUpstream()
  })
  afterAll(async () => {
    http.close()
    await Promise.all([engines.close(), executions.close(), upstream.stop()])
  })

  /** Everything that reading and writing JSON again would change, in an order of its own. */
  const ODD_MEMBERS = [
    '"z": 5.0',
    '"big":9007199254740993',
    '"twice":1',
    '"1":"before a"',
    '"a" : 1E+2',
    '"twice":2',
    '"__proto__":{"status":"polluted"}',
    '"slash":"\\/\\u00e9\\ud83d"',
    '"nested":{"id":"theirs","status":"theirs","url":"theirs"}',
  ].join(', ')

  it('create and get return the upstream reply byte for byte, with the gateway fields in place of its own', async () => {
    const video = engines.results.url('/video.mp4')
    const answer = (id: string, status: string, rest: string) =>
      `{"id":${id},${ODD_MEMBERS},\n "status":${status}${rest}}`
    upstream.play({
      submits: [answer('"cgt-1"', '"queued"', '')],
      polls: [answer('"cgt-1"', '"succeeded"', `,"duration":5.0,"url":"${video}","error":null`)],
    })
    const pipeline = await openWirePipeline(engines, { upstream, http })
    const machine = createVideoMachine(pipeline)
    executions.use(machine)
    const create = await openCreateApi(pipeline, systemClock)
    const created = await create()
    const { id: jobId, model, created_at: createdAt, expires_at: expiresAt } = JSON.parse(created.text)
    await machine.engine.whenEnded(jobId)
    const job = await pipeline.read({ ...pipeline.tenant, jobId })
    const render = createJobRenderer(pipeline.context.openBucket, async () => () => 'https://cdn.example/signed')
    const injected = `"object":"video.generation","model":"${model}","created_at":${createdAt},"expires_at":${expiresAt}`
    expect(created.text).toBe(answer(`"${jobId}"`, '"queued"', `,${injected}`))
    expect(await render(job, createdAt)).toBe(
      answer(
        `"${jobId}"`,
        '"succeeded"',
        `,"duration":5.0,"url":"https://cdn.example/signed","error":null,${injected},"duration_secs":5`,
      ),
    )
    expect(Object(JSON.parse(created.text)).status).toBe('queued')
    expect(({} as Record<string, unknown>).status).toBeUndefined()
  })
})

describe('upstream answers', () => {
  /** So fast the shipped limits pass: 25 s in 500 ms. */
  const HURRY = 50

  const stops: (() => Promise<void> | void)[] = []

  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()))
  })

  async function serve(starting: Promise<Loopback>): Promise<Loopback> {
    const server = await starting
    stops.push(() => server.stop())
    return server
  }

  function openHttp(): UpstreamHttp {
    const http = createUpstreamHttp()
    stops.push(() => http.close())
    return http
  }

  const CALLS: readonly (readonly [string, WholeLimits, number])[] = [
    ['submit', SUBMIT_LIMITS, 25],
    ['poll', POLL_LIMITS, 15],
    ['cancel', CANCEL_LIMITS, 15],
  ]

  const send = (http: UpstreamHttp, { origin }: Pick<Loopback, 'origin'>, limits: WholeLimits) =>
    http.send({ limits, method: 'POST', url: `${origin}/`, headers: {}, body: '{}' })

  describe.each(CALLS)('the reply to a %s', (_name, limits, totalSeconds) => {
    it('of ten megabytes of JSON is aborted at its limit', async () => {
      const text = JSON.stringify({ id: 'task', padding: 'x'.repeat(10_000_000) })
      const server = await serve(
        listenHttp((_request, response) => {
          // The server never sends the rest.
          response.writeHead(200, { 'content-length': text.length }).write(text.slice(0, limits.bytesMax + 1))
        }),
      )
      expect(await send(openHttp(), server, limits)).toStrictEqual({ kind: 'no_response', reason: 'reply too large' })
      await server.allClosed()
    })

    it('of exactly the limit is read completely', async () => {
      const text = JSON.stringify('x'.repeat(limits.bytesMax - 2))
      const server = await serve(listenHttp((_request, response) => response.end(text)))
      const answer = await send(openHttp(), server, limits)
      expect(answer.kind === 'response' && answer.text.length).toBe(limits.bytesMax)
    })

    it.each<Misbehaviour>(['a body without end', 'headers without end', 'a change of protocol'])(
      'is aborted at once if it is %s',
      async (misbehaviour) => {
        const server = await serve(misbehave(misbehaviour))
        expect(await send(openHttp(), server, limits)).toMatchObject({ kind: 'no_response' })
        await server.allClosed()
      },
    )

    it('is aborted at the deadline of the call if it trickles', async () => {
      const attempt = async (misbehaviour: Misbehaviour) => {
        const server = await serve(misbehave(misbehaviour))
        const before = performance.now()
        const answer = await send(openHttp(), server, limits)
        await server.allClosed()
        const seconds = (performance.now() - before) / 1000
        return [answer, seconds >= totalSeconds * 0.98 && seconds < totalSeconds * 5]
      }
      const slow: Misbehaviour[] = ['silence', 'dripping headers', 'interim answers without end', 'a dripping body']
      const outcomes = await hurried(HURRY, () => Promise.all(slow.map(attempt)))
      expect(outcomes).toStrictEqual(slow.map(() => [{ kind: 'no_response', reason: 'timeout' }, true]))
    })
  })

  describe('a kept-alive connection for polls', () => {
    it('is not reused after an aborted reply', async () => {
      let calls = 0
      const server = await serve(
        listenHttp((_request, response) => {
          calls += 1
          response.end(calls === 1 ? 'x'.repeat(2 * POLL_LIMITS.bytesMax) : '{}')
        }),
      )
      const http = openHttp()
      expect(await send(http, server, POLL_LIMITS)).toMatchObject({ kind: 'no_response' })
      expect(await send(http, server, POLL_LIMITS)).toMatchObject({ kind: 'response', text: '{}' })
      expect(server.sockets).toHaveLength(2)
    })
  })
})
