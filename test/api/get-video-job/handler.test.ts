import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { storeApiKey } from '#adapters/store/accounts/create-api-key.ts'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import { markDeleted } from '#adapters/store/jobs/job-deletion.ts'
import type { ApiEvent, ApiResult } from '#middleware/api-event.ts'
import { startTestTable, type TestTable } from '../../engines/start-test-table.ts'
import { openTenant, reserveJob, type TestTenant } from '../../engines/video-jobs.ts'
import { apiEvent, captureLog, context } from '../../middleware/api-exchange.ts'

let engine: TestTable
let handler: (event: ApiEvent, of: typeof context) => Promise<ApiResult>
beforeAll(async () => {
  engine = await startTestTable()
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
    TABLE_NAME: engine.table.name,
    BUCKET_NAME: 'bucket',
  })
  handler = (await import('#lambdas/api/get-video-job/handler.ts')).handler
})
afterAll(() => engine.close())

let tenant: TestTenant
let key: string
let keyId: string
let jobId: string
beforeEach(async () => {
  captureLog()
  tenant = await openTenant(engine.table)
  key = randomBytes(16).toString('hex')
  keyId = await storeApiKey(engine.table, { key, tenantId: tenant.tenantId, models: null })
  jobId = (await reserveJob(engine.table, tenant)).jobId
})
afterEach(() => {
  jest.restoreAllMocks()
})

/** The status of a GET, and the job that it told of. */
async function get(id = jobId, of = key) {
  const headers = { authorization: `Bearer ${of}` }
  const { statusCode, body } = await handler(apiEvent({ headers, pathParameters: { job_id: id } }), context)
  return { statusCode, id: JSON.parse(body).id }
}

const NOT_FOUND = { statusCode: 404, id: undefined }
const UNAUTHORIZED = { statusCode: 401, id: undefined }

describe('GET of a job, the first time and the next', () => {
  it('tells of the same job', async () => {
    expect(await get()).toEqual({ statusCode: 200, id: jobId })
    expect(await get()).toEqual({ statusCode: 200, id: jobId })
  })

  it.each(['no-id', '', uuidv7()])('finds nothing under the id "%s"', async (id) => {
    expect(await get(id)).toEqual(NOT_FOUND)
    expect(await get(id)).toEqual(NOT_FOUND)
  })

  it("finds nothing under another tenant's id", async () => {
    const theirs = (await reserveJob(engine.table, await openTenant(engine.table))).jobId
    expect(await get(theirs)).toEqual(NOT_FOUND)
    expect(await get(theirs)).toEqual(NOT_FOUND)
  })

  it('finds nothing after a deletion in between', async () => {
    expect(await get()).toEqual({ statusCode: 200, id: jobId })
    await markDeleted(engine.table, { tenantId: tenant.tenantId, jobId }, Date.now())
    expect(await get()).toEqual(NOT_FOUND)
  })

  it('is refused after the key was revoked in between', async () => {
    expect(await get()).toEqual({ statusCode: 200, id: jobId })
    await revokeApiKey(engine.table, keyId)
    expect(await get()).toEqual(UNAUTHORIZED)
    expect(await get()).toEqual(UNAUTHORIZED)
  })
})
