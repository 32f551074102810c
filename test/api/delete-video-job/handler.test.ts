import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { requireVideoJob } from '#lambdas/pipeline/step-context.ts'
import { putText } from '#store/bucket/bucket.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { RELEASE, requireReservation, reserveJob } from '../../engines/video-jobs.ts'
import { type Client, startVideoRoutes, type VideoRoutes } from '../video-routes.ts'

const routes = useOpened(startVideoRoutes)
let handle: Awaited<ReturnType<VideoRoutes['open']>>
let client: Client
let job: NewVideoJob
beforeAll(async () => {
  handle = await routes.open('delete-video-job')
})
beforeEach(async () => {
  client = await routes.newClient('10')
  job = await reserveJob(routes.table, client.tenant)
})

const remove = (jobId = job.jobId) => handle(client, { jobId })

describe('delete-video-job', () => {
  it('delete-video-job 200: marks an open job, and leaves its money and its objects to its execution', async () => {
    await putText(routes.bucket.bucket, job.videoKey, 'the video')
    const { status, json } = await remove()
    expect([status, json]).toEqual([200, { deleted: true }])
    expect(await getVideoJob(routes.table, job.tenantId, job.jobId)).toMatchObject({
      isDeleted: true,
      status: 'queued',
    })
    expect((await requireReservation(routes.table, job)).state).toBe('held')
    expect(await routes.bucket.keys(job.videoKey)).toHaveLength(1)
  })

  it('delete-video-job 200: deletes the video of an ended job', async () => {
    await putText(routes.bucket.bucket, job.videoKey, 'the video')
    await resolveReservation(routes.table, {
      job: await requireVideoJob(routes.table, job),
      reservation: await requireReservation(routes.table, job),
      resolution: RELEASE,
      nowMilliseconds: Date.now(),
    })
    expect((await remove()).status).toBe(200)
    expect(await routes.bucket.keys(job.videoKey)).toEqual([])
  })

  it('delete-video-job 404: finds a deleted job no more', async () => {
    await remove()
    expect((await remove()).status).toBe(404)
  })

  it.each(['no-id', uuidv7()])('delete-video-job 404: finds nothing under the id "%s"', async (id) => {
    const { status, json } = await remove(id)
    expect([status, json]).toEqual([404, { error: 'video job not found' }])
  })

  it("delete-video-job 404: leaves another tenant's job as it is", async () => {
    const theirs = await reserveJob(routes.table, (await routes.newClient()).tenant)
    expect((await remove(theirs.jobId)).status).toBe(404)
    expect(await getVideoJob(routes.table, theirs.tenantId, theirs.jobId)).toMatchObject({ isDeleted: false })
  })

  it('delete-video-job 401: an unknown key deletes nothing', async () => {
    expect((await handle(client, { jobId: job.jobId, key: 'unknown' })).status).toBe(401)
    expect(await getVideoJob(routes.table, job.tenantId, job.jobId)).toMatchObject({ isDeleted: false })
  })
})
