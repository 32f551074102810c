import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { failedJob } from '../../cli/admin/failed-job.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { RELEASE, requireReservation, reserveJob } from '../../engines/video-jobs.ts'
import { type Client, startVideoRoutes, type VideoRoutes } from '../video-routes.ts'

const routes = useOpened(startVideoRoutes)
let handle: Awaited<ReturnType<VideoRoutes['open']>>
let client: Client
beforeAll(async () => {
  handle = await routes.open('cancel-video-job')
})
beforeEach(async () => {
  client = await routes.newClient()
})

const open = () => reserveJob(routes.table, client.tenant)

describe('cancel-video-job', () => {
  it('cancel-video-job 200: returns the failed job at once, and starts the execution that ends it', async () => {
    const { jobId } = await open()
    const { status, json } = await handle(client, { jobId })
    expect([status, json]).toEqual([
      200,
      expect.objectContaining({ id: jobId, status: 'failed', error: 'cancelled by the client' }),
    ])
    expect((await routes.stateOf(client)).started).toBe(1)
    const get = await routes.open('get-video-job')
    expect((await get(client, { jobId })).json).toEqual(json)
    const list = await routes.open('list-video-jobs')
    expect((await list(client, { query: { status: 'failed' } })).json.data).toEqual([json])
    expect(json).toMatchObject({ cancelled: true })
    await failedJob(routes.table, client.tenant)
    expect((await list(client, { query: { status: 'failed' } })).json.data).toHaveLength(2)
    expect((await list(client, { query: { status: 'cancelled' } })).json.data).toEqual([json])
  })

  it('cancel-video-job 409: all but one of ten at once, and every repeat', async () => {
    const { jobId } = await open()
    const responses = await Promise.all(Array.from({ length: 10 }, () => handle(client, { jobId })))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    const { status, json } = await handle(client, { jobId })
    expect([status, json]).toEqual([409, { error: 'the job has ended: it was cancelled before' }])
    expect(responses.filter((response) => response.status === 409)).toHaveLength(9)
  })

  it('cancel-video-job 409: refuses a job that has ended otherwise', async () => {
    const job = await open()
    const record = await getVideoJob(routes.table, job.tenantId, job.jobId)
    if (record === undefined) {
      throw new Error('no job')
    }
    const reservation = await requireReservation(routes.table, job)
    const ended = { job: record, reservation, resolution: RELEASE, nowMilliseconds: Date.now() }
    await resolveReservation(routes.table, ended)
    const { status, json } = await handle(client, { jobId: job.jobId })
    expect([status, json]).toEqual([409, { error: 'the job has ended: there is nothing to cancel' }])
  })

  it.each(['no-id', '', uuidv7()])('cancel-video-job 404: finds nothing under the id "%s"', async (jobId) => {
    const { status, json } = await handle(client, { jobId })
    expect([status, json]).toEqual([404, { error: 'video job not found' }])
  })

  it("cancel-video-job 404: finds no deleted job, and nothing under another tenant's id", async () => {
    const job = await open()
    expect((await handle(await routes.newClient(), { jobId: job.jobId })).status).toBe(404)
    await markDeleted(routes.table, job, Date.now())
    expect((await handle(client, { jobId: job.jobId })).status).toBe(404)
  })

  it('cancel-video-job 400: a strict request with a field cancels nothing', async () => {
    const { jobId } = await open()
    const call = { jobId, body: { force: true }, headers: { prefer: 'handling=strict' } }
    expect((await handle(client, call)).status).toBe(400)
    expect((await getVideoJob(routes.table, client.tenant.tenantId, jobId))?.cancelledAt).toBeUndefined()
  })

  it('cancel-video-job 401: refuses an unknown key', async () => {
    expect((await handle(client, { jobId: uuidv7(), key: 'unknown' })).status).toBe(401)
  })

  it('cancel-video-job 429: counts against the rate of the key', async () => {
    client = await routes.newClient('1', 1)
    expect((await handle(client, { jobId: uuidv7() })).status).toBe(404)
    expect((await handle(client, { jobId: uuidv7() })).status).toBe(429)
  })
})
