// Comes first, because streaming handlers use the global when they are loaded.
import { useOpened } from '../../engines/use-opened.ts'
import '#local/awslambda.ts'
import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { EVENT_STREAMS_MAX, takeEventStreamLease } from '#store/limits/event-stream-leases.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { runStreamHandler, type StreamClient, type StreamRun } from '../../engines/stream-handler.ts'
import { reserveJob, settledJob, settleJob } from '../../engines/video-jobs.ts'
import { apiEvent } from '../../middleware/api-exchange.ts'
import { type Client, startVideoRoutes } from '../video-routes.ts'

type Handlers = {
  readonly handler: (event: unknown, context: unknown) => Promise<{ body: string }>
  readonly streamHandler: unknown
}

const routes = useOpened(startVideoRoutes)
let handlers: Handlers
let client: Client
beforeAll(async () => {
  handlers = (await import('../../../lambdas/api/get-video-events/handler.ts')) as unknown as Handlers
})
beforeEach(async () => {
  client = await routes.newClient('10')
})
afterEach(() => {
  jest.restoreAllMocks()
})

function eventFor(jobId: string, headers: Readonly<Record<string, string>> = {}) {
  return apiEvent({
    httpMethod: 'GET',
    path: `/v1/video/generations/${jobId}/events`,
    headers: { authorization: `Bearer ${client.key}`, accept: 'text/event-stream', ...headers },
    pathParameters: { job_id: jobId },
  })
}

type Call = {
  readonly headers?: Readonly<Record<string, string>>
  readonly reader?: StreamClient
  readonly seconds?: number
}

async function follow(jobId: string, { headers, reader = {}, seconds = 900 }: Call = {}): Promise<StreamRun> {
  return await runStreamHandler({
    streamHandler: handlers.streamHandler,
    event: eventFor(jobId, headers),
    context: { getRemainingTimeInMillis: () => seconds * 1000 },
    client: reader,
  })
}

const idsOf = ({ text }: StreamRun) => Array.from(text.matchAll(/^id: (.*)$/gm), ([, id]) => id)

/** The leases of the client's key. */
async function leases(): Promise<Readonly<Record<string, number>>> {
  const item = await routes.table.readItem(tableKeys.eventStreams(client.keyId))
  return (item?.leases ?? {}) as Record<string, number>
}

const WHOLE = ['queued', 'submitted', 'processing', 'progress:100', 'settled', 'succeeded']

describe('a stream of get-video-events', () => {
  it('tells what has happened, then what happens, and ends by itself with the job', async () => {
    const job = await reserveJob(routes.table, client.tenant)
    let heldWhileOpen = 0
    const reader: StreamClient = {
      read: async (bytes) => {
        if (bytes.includes('id: queued')) {
          heldWhileOpen = Object.keys(await leases()).length
          await settleJob(routes.table, job, '0.5')
        }
      },
    }
    const run = await follow(job.jobId, { reader })
    expect([run.statusCode, run.headers]).toMatchObject([200, { 'content-type': 'text/event-stream' }])
    expect(idsOf(run)).toEqual(WHOLE)
    expect(run.text).toContain('id: settled\nevent: settled\ndata: {"id":"settled","type":"settled","at":')
    expect(heldWhileOpen).toBe(1)
    expect(await leases()).toEqual({})
  })

  it('continues behind the last event that the client has', async () => {
    const { jobId } = await settledJob(routes.table, client.tenant, { bill: '0.5' })
    expect(idsOf(await follow(jobId))).toEqual(WHOLE)
    expect(idsOf(await follow(jobId, { headers: { 'last-event-id': 'processing' } }))).toEqual(WHOLE.slice(3))
    expect(idsOf(await follow(jobId, { headers: { 'last-event-id': 'unknown' } }))).toEqual(WHOLE)
  })

  it('get-video-events 204: tells a client that has every event not to come back', async () => {
    const { jobId } = await settledJob(routes.table, client.tenant, { bill: '0.5' })
    const run = await follow(jobId, { headers: { 'last-event-id': 'succeeded' } })
    expect([run.statusCode, run.text]).toEqual([204, ''])
  })

  it('ends without an end of the job when the job is deleted in the middle', async () => {
    const job = await reserveJob(routes.table, client.tenant)
    const read = async () => void (await markDeleted(routes.table, job, Date.now()))
    const run = await follow(job.jobId, { reader: { read } })
    expect([idsOf(run), run.isCut]).toEqual([['queued'], false])
    expect((await follow(job.jobId)).statusCode).toBe(404)
  })

  it('stops reading and gives its place back when the client leaves', async () => {
    const { jobId } = await reserveJob(routes.table, client.tenant)
    const run = await follow(jobId, { reader: { leavesAfterBytes: 20 } })
    expect(run.hasLeft).toBe(true)
    expect(run.resolvedAtMilliseconds - run.endedAtMilliseconds).toBeLessThan(20_000)
    expect(await leases()).toEqual({})
  })

  it('ends before the time of its function is up, with the job still open', async () => {
    const { jobId } = await reserveJob(routes.table, client.tenant)
    const run = await follow(jobId, { seconds: 12.5 })
    expect([idsOf(run), run.isCut]).toEqual([['queued'], false])
    expect(await leases()).toEqual({})
  })

  it('ends by itself after a minute, and its client continues without a gap or a repeat', async () => {
    const job = await reserveJob(routes.table, client.tenant)
    const realNow = Date.now
    const read = (bytes: Buffer) => {
      if (bytes.includes('id: queued')) {
        jest.spyOn(Date, 'now').mockImplementation(() => realNow() + 60_000)
      }
    }
    const first = await follow(job.jobId, { reader: { read } })
    expect([first.isCut, first.text.startsWith('retry: 1000\n\nid: queued\n')]).toEqual([false, true])
    expect(await leases()).toEqual({})
    await settleJob(routes.table, job, '0.5')
    const next = await follow(job.jobId, { headers: { 'last-event-id': idsOf(first).at(-1) ?? '' } })
    expect([...idsOf(first), ...idsOf(next)]).toEqual(WHOLE)
  })

  it('holds its place for at most 70 seconds, so that one whose process died is free again', async () => {
    const { jobId } = await reserveJob(routes.table, client.tenant)
    let held: number[] = []
    const read = async () => {
      held = Object.values(await leases()).map((until) => until - Math.trunc(Date.now() / 1000))
    }
    await follow(jobId, { reader: { read }, seconds: 12.5 })
    expect(held).toHaveLength(1)
    expect(held[0]).toBeLessThanOrEqual(70)
  })

  it('get-video-events 429: refuses one stream too many of a key, and the list still works', async () => {
    const { jobId } = await reserveJob(routes.table, client.tenant)
    const now = Math.trunc(Date.now() / 1000)
    for (let index = 0; index < EVENT_STREAMS_MAX; index += 1) {
      await takeEventStreamLease(routes.table, { keyId: client.keyId, leaseId: `lease-${index}`, until: now + 60 }, now)
    }
    const refused = await follow(jobId)
    expect([refused.statusCode, JSON.parse(refused.text)]).toEqual([429, { error: 'too many event streams' }])
    expect(refused.headers).toMatchObject({ 'retry-after': '10' })
    expect((await follow(jobId, { headers: { accept: 'application/json' } })).statusCode).toBe(200)
  })

  it('is one snapshot where nothing can be streamed, and says when to come back', async () => {
    const open = await reserveJob(routes.table, client.tenant)
    const whole = async (jobId: string) =>
      (await handlers.handler(eventFor(jobId), { awsRequestId: 'invocation' })).body
    expect(await whole(open.jobId)).toMatch(/^retry: 5000\n\nid: queued\nevent: queued\ndata: \{.*\}\n\n$/)
    const { jobId } = await settledJob(routes.table, client.tenant, { bill: '0.5' })
    expect(await whole(jobId)).toMatch(/^id: queued\n[\s\S]*id: succeeded\n[\s\S]*\n\n$/)
  })
})
