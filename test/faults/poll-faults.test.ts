import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createUpstreamHttp, type UpstreamHttp } from '#adapters/providers/video/upstream-http.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { formatCredits } from '#core/money.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import type { Pipeline } from '../engines/create-pipeline.ts'
import { createVideoMachine } from '../engines/run-video-machine.ts'
import { type Engines, startEngines } from '../engines/start-engines.ts'
import { jsonReply, openWirePipeline, type Reply, startWireUpstream, type WireUpstream } from './wire-upstream.ts'

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
function succeeded(members = '"duration":3', urls = `"content":{"video_url":"${engines.results.url('/video.mp4')}"}`) {
  return `{"id":"t1","status":"succeeded",${urls},${members}}`
}

function succeededP1(duration: string): string {
  const output = `{"task_id":"t1","task_status":"SUCCEEDED","video_url":"${engines.results.url('/video.mp4')}"}`
  return `{"output":${output},"usage":{"duration":${duration},"SR":720}}`
}

const done = { p1: () => succeededP1('3'), p2: () => succeeded() }

type Changes = Parameters<Pipeline['create']>[0]
type Ended = { readonly record: VideoJob; readonly seconds: number; readonly spent: string; readonly visited: string[] }

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
      const logged = vi.spyOn(logger, 'error')
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
