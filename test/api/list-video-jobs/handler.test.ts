import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { reserveJob } from '../../engines/video-jobs.ts'
import { type Client, startVideoRoutes, type VideoRoutes } from '../video-routes.ts'

const routes = useOpened(startVideoRoutes)
let handle: Awaited<ReturnType<VideoRoutes['open']>>
let client: Client
beforeAll(async () => {
  handle = await routes.open('list-video-jobs')
})
beforeEach(async () => {
  client = await routes.newClient()
})

/** Makes jobs one second apart and returns their ids, newest first. */
async function createJobs(count: number): Promise<string[]> {
  const createdAt = Math.trunc(Date.now() / 1000) - count
  const ids: string[] = []
  for (let second = 0; second < count; second += 1) {
    const jobId = uuidv7({ msecs: (createdAt + second) * 1000 })
    ids.unshift((await reserveJob(routes.table, client.tenant, { jobId, createdAt: createdAt + second })).jobId)
  }
  return ids
}

async function list(query: Readonly<Record<string, string>> = {}) {
  const { status, json } = await handle(client, { query })
  return { status, ids: json.data?.map(({ id }: { id: string }) => id), more: json.has_more, last: json.last_id }
}

describe('list-video-jobs', () => {
  it('list-video-jobs 200: returns the jobs of the tenant alone, newest first', async () => {
    await reserveJob(routes.table, (await routes.newClient()).tenant)
    const ids = await createJobs(3)
    expect(await list()).toEqual({ status: 200, ids, more: false, last: ids[2] })
  })

  it('list-video-jobs 200: continues a page by offset and by the id of its last job', async () => {
    const ids = await createJobs(3)
    expect(await list({ limit: '2' })).toEqual({ status: 200, ids: ids.slice(0, 2), more: true, last: ids[1] })
    const rest = { status: 200, ids: ids.slice(2), more: false, last: ids[2] }
    expect(await list({ limit: '2', offset: '2' })).toEqual(rest)
    expect(await list({ limit: '2', after: ids[1] ?? '' })).toEqual(rest)
  })

  it('list-video-jobs 200: leaves out deleted jobs, and may be empty', async () => {
    const [jobId = ''] = await createJobs(1)
    await markDeleted(routes.table, { tenantId: client.tenant.tenantId, jobId }, Date.now())
    expect(await list()).toEqual({ status: 200, ids: [], more: false, last: null })
  })

  it('list-video-jobs 200: shows the jobs that match every filter', async () => {
    const [newest = '', second = '', third = ''] = await createJobs(3)
    const at = async (id: string) =>
      (await handle(client, { query: {} })).json.data.find((job: { id: string }) => job.id === id)
    const { created_at: time, model } = await at(second)
    expect((await list({ created_after: `${time}` })).ids).toEqual([newest, second])
    expect((await list({ created_before: `${time}` })).ids).toEqual([third])
    expect((await list({ model, status: 'queued', created_after: `${time}` })).ids).toEqual([newest, second])
    expect(await list({ status: 'succeeded' })).toEqual({ status: 200, ids: [], more: false, last: null })
  })

  it.each(['status', 'created_after', 'created_before', 'model'])(
    'list-video-jobs 400: names a wrong %s',
    async (name) => {
      const { status, json } = await handle(client, { query: { [name]: '' } })
      expect([status, json.details]).toEqual([400, [expect.objectContaining({ path: name })]])
    },
  )

  it.each([{ offset: '10001' }, { after: 'no-id' }])('list-video-jobs 400: refuses the query %j', async (query) => {
    const { status, json } = await handle(client, { query })
    expect([status, Object.keys(json)]).toEqual([400, ['error', 'details']])
  })

  it('list-video-jobs 401: refuses an unknown key', async () => {
    expect((await handle(client, { key: 'unknown' })).status).toBe(401)
  })
})
