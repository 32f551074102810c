import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { reserveJob, TESTER } from '../../engines/video-jobs.ts'
import { type Client, startVideoRoutes, type VideoRoutes } from '../video-routes.ts'

const routes = useOpened(startVideoRoutes)
let handle: Awaited<ReturnType<VideoRoutes['open']>>
let client: Client
let jobId: string
beforeAll(async () => {
  handle = await routes.open('get-video-job')
})
beforeEach(async () => {
  client = await routes.newClient()
  jobId = (await reserveJob(routes.table, client.tenant)).jobId
})

/** The status of a GET, and the id of its job. */
async function get(id = jobId) {
  const { status, json } = await handle(client, { jobId: id })
  return { status, id: json.id }
}

const FOUND = () => ({ status: 200, id: jobId })
const NOT_FOUND = { status: 404, id: undefined }
const UNAUTHORIZED = { status: 401, id: undefined }

/** The first GET of a key reads its tenant before the job, the next ones read both at once. */
describe('get-video-job, the first time and the next', () => {
  it('get-video-job 200: returns the job', async () => {
    expect(await get()).toEqual(FOUND())
    expect(await get()).toEqual(FOUND())
  })

  it.each(['no-id', '', uuidv7()])('get-video-job 404: finds nothing under the id "%s"', async (id) => {
    expect(await get(id)).toEqual(NOT_FOUND)
    expect(await get(id)).toEqual(NOT_FOUND)
  })

  it("get-video-job 404: finds nothing under another tenant's id", async () => {
    const theirs = (await reserveJob(routes.table, (await routes.newClient()).tenant)).jobId
    expect(await get(theirs)).toEqual(NOT_FOUND)
    expect(await get(theirs)).toEqual(NOT_FOUND)
  })

  it('get-video-job 404: finds nothing after the job was deleted in between', async () => {
    expect(await get()).toEqual(FOUND())
    await markDeleted(routes.table, { tenantId: client.tenant.tenantId, jobId }, Date.now())
    expect(await get()).toEqual(NOT_FOUND)
  })

  it('get-video-job 401: refuses a key that was revoked in between', async () => {
    expect(await get()).toEqual(FOUND())
    await revokeApiKey(routes.table, client.keyId, TESTER)
    expect(await get()).toEqual(UNAUTHORIZED)
    expect(await get()).toEqual(UNAUTHORIZED)
  })
})
