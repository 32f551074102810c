import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { createCallerWithJobReader } from '#store/jobs/caller-with-job.ts'
import { markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { putApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant, reserveJob, TESTER, type TestTenant } from '../../engines/video-jobs.ts'

const NOW = Math.trunc(Date.now() / 1000)

const { table } = useTestTable()
let requests: string[]
beforeAll(async () => {
  table.client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        requests.push(String(commandName))
        return await next(args)
      },
    { step: 'initialize' },
  )
})

let tenant: TestTenant
let jobId: string
let find: ReturnType<typeof createCallerWithJobReader>
beforeEach(async () => {
  requests = []
  tenant = await openTenant(table)
  jobId = (await reserveJob(table, tenant)).jobId
  find = createCallerWithJobReader()
})

/** A request of this key for this job, and what it asked of the table. */
async function request({ keyDigest } = tenant, id: string | undefined = jobId) {
  requests = []
  const found = await find(table, { keyDigest, jobId: id, nowSeconds: NOW })
  return { tenantId: found?.caller.tenantId, jobId: found?.job?.jobId, requests }
}

describe('a caller and its job', () => {
  it('are read one after the other for a key never seen, in one request from then on', async () => {
    const found = { tenantId: tenant.tenantId, jobId }
    expect(await request()).toEqual({ ...found, requests: ['GetItemCommand', 'GetItemCommand'] })
    expect(await request()).toEqual({ ...found, requests: ['BatchGetItemCommand'] })
    const other = (await reserveJob(table, tenant)).jobId
    expect(await request(tenant, other)).toEqual({ ...found, jobId: other, requests: ['BatchGetItemCommand'] })
  })

  it('are read afresh each time', async () => {
    await request()
    await markDeleted(table, { tenantId: tenant.tenantId, jobId }, NOW * 1000)
    const found = await find(table, { keyDigest: tenant.keyDigest, jobId, nowSeconds: NOW })
    expect(found?.job).toMatchObject({ jobId, isDeleted: true })
  })

  it('are nothing to a key that was revoked since it was seen', async () => {
    await request()
    await revokeApiKey(table, tenant.keyDigest.slice(0, 8), TESTER)
    expect(await request()).toMatchObject({ tenantId: undefined, jobId: undefined })
  })

  it('are nothing to an unknown key, however often it is tried', async () => {
    const unknown = { ...tenant, keyDigest: 'digest-of-nobody' }
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(await request(unknown)).toEqual({ tenantId: undefined, jobId: undefined, requests: ['GetItemCommand'] })
    }
  })

  it('never are one tenant and the job of another', async () => {
    const stranger = await openTenant(table)
    const theirs = (await reserveJob(table, stranger)).jobId
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(await request(tenant, theirs)).toMatchObject({ tenantId: tenant.tenantId, jobId: undefined })
      expect(await request(stranger, jobId)).toMatchObject({ tenantId: stranger.tenantId, jobId: undefined })
    }
  })

  it('follow a key that was given to another tenant since it was seen', async () => {
    await request()
    const next = await openTenant(table)
    const theirs = (await reserveJob(table, next)).jobId
    const digest = tenant.keyDigest
    await putApiKey(
      table,
      { keyId: digest.slice(0, 8), tenantId: next.tenantId, models: null, createdAt: NOW, digest },
      TESTER,
    )
    expect(await request()).toMatchObject({ tenantId: next.tenantId, jobId: undefined })
    expect(await request(tenant, theirs)).toMatchObject({ tenantId: next.tenantId, jobId: theirs })
  })

  it('are the caller alone when there is no such job, or no such id', async () => {
    const caller = { tenantId: tenant.tenantId, jobId: undefined }
    expect(await request(tenant, uuidv7())).toMatchObject(caller)
    expect(await request(tenant, uuidv7())).toMatchObject(caller)
    const found = await find(table, { keyDigest: tenant.keyDigest, jobId: undefined, nowSeconds: NOW })
    expect(found).toMatchObject({ caller: { tenantId: tenant.tenantId }, job: undefined })
  })
})
