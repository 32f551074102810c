import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { reserveJob, settledJob } from '../../engines/video-jobs.ts'
import { type Client, startVideoRoutes, type VideoRoutes } from '../video-routes.ts'

const routes = useOpened(startVideoRoutes)
let handle: Awaited<ReturnType<VideoRoutes['open']>>
let client: Client
beforeAll(async () => {
  handle = await routes.open('get-video-events')
})
beforeEach(async () => {
  client = await routes.newClient('10')
})

describe('get-video-events', () => {
  it('get-video-events 200: lists what has happened to an open job', async () => {
    const { jobId, createdAt } = await reserveJob(routes.table, client.tenant)
    const { status, json } = await handle(client, { jobId })
    expect([status, json]).toEqual([200, { object: 'list', data: [{ id: 'queued', type: 'queued', at: createdAt }] }])
  })

  it('get-video-events 200: lists the stages and the bill of a job that has ended', async () => {
    const { jobId } = await settledJob(routes.table, client.tenant, { bill: '0.5' })
    const { data } = (await handle(client, { jobId })).json
    expect(data.map(({ type }: { type: string }) => type)).toEqual([
      'queued',
      'submitted',
      'processing',
      'progress',
      'settled',
      'succeeded',
    ])
    expect(data[4]).toMatchObject({ cost: '0.5' })
  })

  it.each(['no-id', '', uuidv7()])('get-video-events 404: finds nothing under the id "%s"', async (jobId) => {
    const { status, json } = await handle(client, { jobId })
    expect([status, json]).toEqual([404, { error: 'video job not found' }])
  })

  it("get-video-events 404: finds nothing under another tenant's id, nor of a deleted job", async () => {
    const foreign = await reserveJob(routes.table, (await routes.newClient()).tenant)
    const deleted = await reserveJob(routes.table, client.tenant)
    await markDeleted(routes.table, deleted, Date.now())
    const headers = { accept: 'text/event-stream' }
    for (const { jobId } of [foreign, deleted]) {
      expect((await handle(client, { jobId })).status).toBe(404)
      expect((await handle(client, { jobId, headers })).json).toEqual({ error: 'video job not found' })
    }
  })

  it('get-video-events 400: refuses a strict request with a query parameter, which it would ignore', async () => {
    const headers = { prefer: 'handling=strict' }
    expect((await handle(client, { jobId: uuidv7(), query: { full: '1' }, headers })).status).toBe(400)
  })

  it('get-video-events 401: refuses an unknown key', async () => {
    expect((await handle(client, { jobId: uuidv7(), key: 'unknown' })).status).toBe(401)
  })

  it('get-video-events 429: counts against the rate of the key', async () => {
    client = await routes.newClient('1', 1)
    expect((await handle(client, { jobId: uuidv7() })).status).toBe(404)
    expect((await handle(client, { jobId: uuidv7() })).status).toBe(429)
  })
})
