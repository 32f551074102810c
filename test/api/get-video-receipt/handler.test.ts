import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { reserveJob } from '../../engines/video-jobs.ts'
import { BODY, type Client, startVideoRoutes, type VideoRoutes } from '../video-routes.ts'

const routes = useOpened(startVideoRoutes)
let handle: Awaited<ReturnType<VideoRoutes['open']>>
let client: Client
beforeAll(async () => {
  handle = await routes.open('get-video-receipt')
})
beforeEach(async () => {
  client = await routes.newClient('10')
})

describe('get-video-receipt', () => {
  it('get-video-receipt 200: shows an open job with its estimate, and keeps it after the deletion of the job', async () => {
    const create = await routes.open('create-video-job')
    const { id: jobId } = (await create(client, { body: BODY })).json
    const receipt = await handle(client, { jobId })
    expect([receipt.status, receipt.json]).toEqual([
      200,
      {
        object: 'video.receipt',
        id: jobId,
        model: BODY.model,
        billing: 'per_second',
        estimate: '0.7',
        cost: null,
        lines: [],
        ledger: [{ kind: 'reserve', amount: '0.7', actual: null, at: expect.any(Number) }],
      },
    ])
    await markDeleted(routes.table, { tenantId: client.tenant.tenantId, jobId }, Date.now())
    expect((await handle(client, { jobId })).json).toEqual(receipt.json)
  })

  it.each(['no-id', '', uuidv7()])('get-video-receipt 404: finds nothing under the id "%s"', async (jobId) => {
    const { status, json } = await handle(client, { jobId })
    expect([status, json]).toEqual([404, { error: 'video job not found' }])
  })

  it("get-video-receipt 404: finds nothing under another tenant's id", async () => {
    const { jobId } = await reserveJob(routes.table, (await routes.newClient()).tenant)
    expect((await handle(client, { jobId })).status).toBe(404)
  })

  it('get-video-receipt 400: refuses a strict request with a query parameter, which it would ignore', async () => {
    const headers = { prefer: 'handling=strict' }
    expect((await handle(client, { jobId: uuidv7(), query: { full: '1' }, headers })).status).toBe(400)
  })

  it('get-video-receipt 401: refuses an unknown key', async () => {
    expect((await handle(client, { jobId: uuidv7(), key: 'unknown' })).status).toBe(401)
  })

  it('get-video-receipt 429: counts against the rate of the key', async () => {
    client = await routes.newClient('1', 1)
    expect((await handle(client, { jobId: uuidv7() })).status).toBe(404)
    expect((await handle(client, { jobId: uuidv7() })).status).toBe(429)
  })
})
