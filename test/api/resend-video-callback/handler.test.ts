import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { videoCallbackAttemptResponse } from '#core/api/video-responses.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { RELEASE, requireReservation, reserveJob } from '../../engines/video-jobs.ts'
import { type Client, startVideoRoutes, type VideoRoutes } from '../video-routes.ts'

const routes = useOpened(startVideoRoutes)
let handle: Awaited<ReturnType<VideoRoutes['open']>>
let client: Client
beforeAll(async () => {
  handle = await routes.open('resend-video-callback')
})
beforeEach(async () => {
  client = await routes.newClient()
})

/** A job that failed. Nobody is allowed to get its callback, so that no test connects. */
async function endedJob(callbackUrl: string | undefined = 'https://not-allowed.example/hook'): Promise<string> {
  const job = await reserveJob(routes.table, client.tenant, { callbackUrl })
  const record = await getVideoJob(routes.table, job.tenantId, job.jobId)
  if (record === undefined) {
    throw new Error('no job')
  }
  const reservation = await requireReservation(routes.table, job)
  await resolveReservation(routes.table, { job: record, reservation, resolution: RELEASE, nowMilliseconds: Date.now() })
  return job.jobId
}

describe('resend-video-callback', () => {
  it('resend-video-callback 200: tells the attempt and its outcome', async () => {
    const jobId = await endedJob()
    const first = await handle(client, { jobId })
    expect(first.status).toBe(200)
    expect(videoCallbackAttemptResponse.parse(first.json)).toMatchObject({
      object: 'video.callback',
      id: jobId,
      attempt: 2,
      status: null,
      delivered: false,
    })
    expect((await handle(client, { jobId })).json.attempt).toBe(3)
  })

  it('resend-video-callback 409: refuses an open job, and the eleventh resend', async () => {
    const open = await reserveJob(routes.table, client.tenant, { callbackUrl: 'https://not-allowed.example/' })
    const refused = { error: 'the job has not ended: its callback is sent when it ends' }
    expect(await handle(client, { jobId: open.jobId })).toMatchObject({ status: 409, json: refused })
    const jobId = await endedJob()
    for (let resend = 0; resend < 10; resend += 1) {
      expect((await handle(client, { jobId })).status).toBe(200)
    }
    const limit = { error: 'the callback was sent again 10 times: fetch the job instead' }
    expect(await handle(client, { jobId })).toMatchObject({ status: 409, json: limit })
  })

  it.each(['no-id', '', uuidv7()])('resend-video-callback 404: finds nothing under the id "%s"', async (jobId) => {
    const { status, json } = await handle(client, { jobId })
    expect([status, json]).toEqual([404, { error: 'video job not found' }])
  })

  it("resend-video-callback 404: finds nothing under another tenant's id", async () => {
    const jobId = await endedJob()
    expect((await handle(await routes.newClient(), { jobId })).status).toBe(404)
  })

  it('resend-video-callback 400: refuses a strict request with a field, which it would ignore', async () => {
    const call = { jobId: await endedJob(), body: { force: true }, headers: { prefer: 'handling=strict' } }
    const { status, json } = await handle(client, call)
    expect([status, json.details[0].path]).toEqual([400, 'force'])
  })

  it('resend-video-callback 401: refuses an unknown key', async () => {
    expect((await handle(client, { jobId: await endedJob(), key: 'unknown' })).status).toBe(401)
  })

  it('resend-video-callback 429: counts against the rate of the key', async () => {
    client = await routes.newClient('1', 1)
    expect((await handle(client, { jobId: uuidv7() })).status).toBe(404)
    expect((await handle(client, { jobId: uuidv7() })).status).toBe(429)
  })
})
