import { v7 as uuidv7 } from 'uuid'
import { beforeAll, describe, expect, it } from 'vitest'
import { markDeleted } from '#adapters/store/jobs/job-deletion.ts'
import { getJobPlaces, getVideoJob, listVideoJobs } from '#adapters/store/jobs/job-reader.ts'
import { JOB_RECORD_SECONDS } from '#core/jobs/video-job.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { openTenant, reserveJob, type TestTenant } from '../../../engines/video-jobs.ts'

const NOW = Math.trunc(Date.now() / 1000)
const JOBS = 25

const engine = useTestTable()
let table: TableWithClient
let tenant: TestTenant
/** Newest first; a second apart. */
let ids: string[]
beforeAll(async () => {
  table = engine.table
  tenant = await openTenant(table, '1000')
  const jobs = await Promise.all(
    Array.from({ length: JOBS }, (_, age) => reserveJob(table, tenant, { createdAt: NOW - age })),
  )
  ids = jobs.map(({ jobId }) => jobId)
  await reserveJob(table, await openTenant(table), { createdAt: NOW })
})

type Query = Partial<Parameters<typeof listVideoJobs>[1]>

async function list(query: Query = {}, of = tenant) {
  const options = { tenantId: of.tenantId, limit: 20, offset: 0, after: undefined, nowSeconds: NOW, ...query }
  const { jobs, hasMore } = await listVideoJobs(table, options)
  return { ids: jobs.map(({ jobId }) => jobId), hasMore }
}

/** What a listing shows, and how many items each of its queries asked for. */
async function limitsOf(run: () => ReturnType<typeof list>) {
  const limits: unknown[] = []
  const name = 'limits'
  table.client.middlewareStack.add(
    (next) => async (args) => {
      limits.push('Limit' in args.input ? args.input.Limit : undefined)
      return await next(args)
    },
    { step: 'initialize', name },
  )
  try {
    return { listed: await run(), limits }
  } finally {
    table.client.middlewareStack.remove(name)
  }
}

describe('a listing', () => {
  it('shows the newest jobs of the tenant first, and whether more follow', async () => {
    expect(await list({ limit: 20 })).toEqual({ ids: ids.slice(0, 20), hasMore: true })
    expect(await list({ limit: 25 })).toEqual({ ids, hasMore: false })
    expect(await list({ limit: 100 })).toEqual({ ids, hasMore: false })
  })

  it.each([0, 1, 7, 24, 25, 1000])('skips an offset of %s jobs', async (offset) => {
    expect(await list({ limit: 5, offset })).toEqual({ ids: ids.slice(offset, offset + 5), hasMore: offset + 5 < JOBS })
  })

  it('goes on after a cursor, which is a position: any id will do, and the offset counts from there', async () => {
    expect(await list({ limit: 5, after: ids[9] })).toEqual({ ids: ids.slice(10, 15), hasMore: true })
    expect(await list({ limit: 5, after: ids[9], offset: 3 })).toEqual({ ids: ids.slice(13, 18), hasMore: true })
    const between = uuidv7({ msecs: (NOW - 9) * 1000 - 500 })
    expect(await list({ limit: 5, after: between })).toEqual({ ids: ids.slice(10, 15), hasMore: true })
    expect(await list({ after: ids.at(-1) })).toEqual({ ids: [], hasMore: false })
    expect(await list({ after: '00000000-0000-0000-0000-000000000000' })).toEqual({ ids: [], hasMore: false })
    expect(await list({ limit: 3, after: 'ffffffff-ffff-ffff-ffff-ffffffffffff' })).toEqual({
      ids: ids.slice(0, 3),
      hasMore: true,
    })
  })

  it('reaches every job once when paged by cursor', async () => {
    const seen: string[] = []
    let after: string | undefined
    for (let page = 0; page < JOBS; page += 1) {
      const { ids: found, hasMore } = await list({ limit: 4, after })
      seen.push(...found)
      after = found.at(-1)
      if (!hasMore) {
        break
      }
    }
    expect(seen).toEqual(ids)
  })

  it('leaves deleted jobs out, of pages and of offsets', async () => {
    const own = await openTenant(table, '1000')
    const jobs = await Promise.all(
      Array.from({ length: 30 }, (_, age) => reserveJob(table, own, { createdAt: NOW - age })),
    )
    const isKept = (index: number) => index % 3 === 0
    await Promise.all(jobs.filter((_, index) => !isKept(index)).map((job) => markDeleted(table, job, NOW * 1000)))
    const kept = jobs.filter((_, index) => isKept(index)).map(({ jobId }) => jobId)
    expect(await list({ limit: 4 }, own)).toEqual({ ids: kept.slice(0, 4), hasMore: true })
    expect(await list({ limit: 4, offset: 5 }, own)).toEqual({ ids: kept.slice(5, 9), hasMore: true })
    expect(await list({ limit: 20 }, own)).toEqual({ ids: kept, hasMore: false })
  })

  it('reads no job more than it needs where none was deleted, and ahead where some were', async () => {
    const own = await openTenant(table, '1000')
    const jobs = await Promise.all(
      Array.from({ length: 9 }, (_, age) => reserveJob(table, own, { createdAt: NOW - age })),
    )
    const page = { ids: jobs.slice(2, 6).map(({ jobId }) => jobId), hasMore: true }
    expect(await limitsOf(() => list({ limit: 4, offset: 2 }, own))).toEqual({ listed: page, limits: [7] })
    await Promise.all(jobs.slice(0, 2).map((job) => markDeleted(table, job, NOW * 1000)))
    expect(await limitsOf(() => list({ limit: 4 }, own))).toEqual({ listed: page, limits: [5, 12] })
  })

  it('leaves jobs out from thirty days on, in the very second', async () => {
    const own = await openTenant(table, '1000')
    const edge = await reserveJob(table, own, { createdAt: NOW - JOB_RECORD_SECONDS })
    const young = await reserveJob(table, own, { createdAt: NOW - JOB_RECORD_SECONDS + 1 })
    expect((await list({}, own)).ids).toEqual([young.jobId])
    expect((await list({ nowSeconds: NOW - 1 }, own)).ids).toEqual([young.jobId, edge.jobId])
  })

  it('of a tenant without jobs is empty', async () => {
    expect(await list({}, await openTenant(table))).toEqual({ ids: [], hasMore: false })
  })
})

describe('reading one job', () => {
  it('finds it under its own tenant only', async () => {
    const [id = ''] = ids
    expect(await getVideoJob(table, tenant.tenantId, id)).toMatchObject({ jobId: id, tenantId: tenant.tenantId })
    expect(await getVideoJob(table, (await openTenant(table)).tenantId, id)).toBeUndefined()
    expect(await getVideoJob(table, tenant.tenantId, uuidv7())).toBeUndefined()
  })
})

describe('a deletion', () => {
  it('of one job is one: the second finds nothing', async () => {
    const job = await reserveJob(table, tenant, { createdAt: NOW - 100 })
    const outcomes = await Promise.all([1, 2, 3].map(() => markDeleted(table, job, NOW * 1000)))
    expect(outcomes.filter((outcome) => outcome !== undefined)).toHaveLength(1)
    expect(await markDeleted(table, job, NOW * 1000)).toBeUndefined()
  })

  it('of an unknown, another tenant or too old job finds nothing and makes no record', async () => {
    const other = await openTenant(table)
    const old = await reserveJob(table, other, { createdAt: NOW - JOB_RECORD_SECONDS })
    expect(await markDeleted(table, { ...old, tenantId: tenant.tenantId }, NOW * 1000)).toBeUndefined()
    expect(await markDeleted(table, old, NOW * 1000)).toBeUndefined()
    expect(await getVideoJob(table, tenant.tenantId, old.jobId)).toBeUndefined()
  })
})

describe('getJobPlaces', () => {
  it('reads status and channel of many jobs, and asks the table for nothing else', async () => {
    const sent: object[] = []
    const name = 'sent'
    table.client.middlewareStack.add(
      (next) => async (args) => {
        sent.push(args.input)
        return await next(args)
      },
      { step: 'initialize', name },
    )
    const absent = uuidv7()
    const places = await getJobPlaces(
      table,
      [...ids, absent].map((jobId) => ({ tenantId: tenant.tenantId, jobId })),
    )
    table.client.middlewareStack.remove(name)
    expect(places).toEqual(ids.map(() => ({ status: 'queued', channelId: undefined })))
    expect(sent).toMatchObject([
      {
        RequestItems: {
          [table.name]: {
            ConsistentRead: true,
            ProjectionExpression: '#a0, #a1, #a2, #a3',
            ExpressionAttributeNames: { '#a0': 'PK', '#a1': 'SK', '#a2': 'status', '#a3': 'channelId' },
          },
        },
      },
    ])
  })
})
