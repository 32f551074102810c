import { beforeAll, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import type { JobFilter } from '#core/jobs/list-query.ts'
import { JOB_LIFETIME_SECONDS, JOB_RECORD_SECONDS, type VideoJobStatus } from '#core/jobs/video-job.ts'
import { markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { getJobPlaces, getVideoJob, listVideoJobs, readVideoJobItem, storeText } from '#store/jobs/job-reader.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant, reserveJob, type TestTenant } from '../../engines/video-jobs.ts'

describe('readers of jobs:', () => {
  const NOW = Math.trunc(Date.now() / 1000)
  const JOBS = 25

  const { table } = useTestTable()
  let tenant: TestTenant
  /** Newest first; a second apart. */
  let ids: string[]
  beforeAll(async () => {
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

  describe('listVideoJobs: a listing', () => {
    it('shows the newest jobs of the tenant first, and whether more follow', async () => {
      expect(await list({ limit: 20 })).toEqual({ ids: ids.slice(0, 20), hasMore: true })
      expect(await list({ limit: 25 })).toEqual({ ids, hasMore: false })
      expect(await list({ limit: 100 })).toEqual({ ids, hasMore: false })
    })

    it.each([0, 1, 7, 24, 25, 1000])('skips an offset of %s jobs', async (offset) => {
      expect(await list({ limit: 5, offset })).toEqual({
        ids: ids.slice(offset, offset + 5),
        hasMore: offset + 5 < JOBS,
      })
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

  describe('getVideoJob', () => {
    it('finds a job under its own tenant only', async () => {
      const [id = ''] = ids
      expect(await getVideoJob(table, tenant.tenantId, id)).toMatchObject({ jobId: id, tenantId: tenant.tenantId })
      expect(await getVideoJob(table, (await openTenant(table)).tenantId, id)).toBeUndefined()
      expect(await getVideoJob(table, tenant.tenantId, uuidv7())).toBeUndefined()
    })
  })

  describe('markDeleted: a deletion', () => {
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
})

describe('listVideoJobs with a filter', () => {
  const NOW = Math.trunc(Date.now() / 1000)

  const { table } = useTestTable()

  type Seed = {
    readonly age: number
    readonly status?: VideoJobStatus
    readonly model?: string
    readonly idAge?: number
    readonly deleted?: true
  }

  /** Writes jobs of a new tenant, and returns it with their ids in the order of the seeds. */
  async function tenantWith(seeds: readonly Seed[]) {
    const { tenantId } = await openTenant(table)
    const ids = seeds.map(({ age, idAge = age }) => uuidv7({ msecs: Math.round((NOW - idAge) * 1000) }))
    const puts = seeds.map(({ age, status = 'failed', model = 'm', deleted }, index) => {
      const [createdAt, expiresAt] = [NOW - age, NOW - age + JOB_LIFETIME_SECONDS]
      const Item = {
        ...tableKeys.job(tenantId, ids[index] ?? ''),
        ...{ status, model, createdAt, expiresAt, videoKey: 'v/x', estimate: 1 },
        ...(deleted ? { deleted } : {}),
      }
      return [`job${index}`, { Put: { Item } }] as const
    })
    for (let first = 0; first < puts.length; first += 100) {
      await table.transact(Object.fromEntries(puts.slice(first, first + 100)))
    }
    return { tenantId, ids }
  }

  async function list(
    tenantId: string,
    filter: JobFilter,
    page: { limit?: number; after?: string; offset?: number } = {},
  ) {
    const options = { tenantId, limit: 20, offset: 0, after: undefined, nowSeconds: NOW, ...page, filter }
    const { jobs, hasMore, lastId } = await listVideoJobs(table, options)
    return { ids: jobs.map(({ jobId }) => jobId), hasMore, lastId }
  }

  it('shows the jobs of a status as clients read it, expired included', async () => {
    const { tenantId, ids } = await tenantWith([
      { age: 1, status: 'queued' },
      { age: 2, status: 'succeeded' },
      { age: 3, status: 'queued', deleted: true },
      { age: JOB_LIFETIME_SECONDS - 1, status: 'succeeded' },
      { age: JOB_LIFETIME_SECONDS, status: 'succeeded' },
    ])
    const [queued, young, , almost, expired] = ids
    expect(await list(tenantId, { status: 'queued' })).toEqual({ ids: [queued], hasMore: false, lastId: queued })
    expect((await list(tenantId, { status: 'succeeded' })).ids).toEqual([young, almost])
    expect((await list(tenantId, { status: 'expired' })).ids).toEqual([expired])
    expect(await list(tenantId, { status: 'failed' })).toEqual({ ids: [], hasMore: false, lastId: undefined })
  })

  it('takes created_after for inclusive and created_before for exclusive, by created_at and not by the id', async () => {
    const { tenantId, ids } = await tenantWith([
      { age: 10 },
      { age: 20, idAge: 18.9 },
      { age: 30, idAge: 31.1 },
      { age: 40 },
    ])
    const [, second, third] = ids
    const window = { createdAfter: NOW - 30, createdBefore: NOW - 10 }
    expect((await list(tenantId, window)).ids.toSorted()).toEqual([second, third].toSorted())
    expect((await list(tenantId, { createdAfter: NOW - 29, createdBefore: NOW - 20 })).ids).toEqual([])
    expect((await list(tenantId, { createdAfter: NOW, createdBefore: NOW - 100 })).ids).toEqual([])
    expect((await list(tenantId, window, { offset: 1 })).ids).toHaveLength(1)
  })

  it('reaches every matching job once by cursor, over pages that are cut short', async () => {
    const seeds = Array.from({ length: 2_300 }, (_, age) => ({ age, model: age % 700 === 699 ? 'rare' : 'm' }))
    const { tenantId, ids } = await tenantWith(seeds)
    const rare = ids.filter((_, index) => seeds[index]?.model === 'rare')
    const pages: { found: number; hasMore: boolean }[] = []
    const seen: string[] = []
    let after: string | undefined
    for (let page = 0; page < 10; page += 1) {
      const listed = await list(tenantId, { model: 'rare' }, { limit: 2, ...(after === undefined ? {} : { after }) })
      seen.push(...listed.ids)
      pages.push({ found: listed.ids.length, hasMore: listed.hasMore })
      after = listed.lastId
      if (!listed.hasMore) {
        break
      }
    }
    expect(seen).toEqual(rare)
    expect(pages[0]).toEqual({ found: 1, hasMore: true })
    expect(pages.length).toBeLessThanOrEqual(4)
  })

  it('looks at a thousand jobs at most, and says where to go on from an empty page', async () => {
    const { tenantId, ids } = await tenantWith(Array.from({ length: 1_200 }, (_, age) => ({ age })))
    const first = await list(tenantId, { model: 'other' })
    expect(first).toEqual({ ids: [], hasMore: true, lastId: ids[999] })
    const rest = await list(tenantId, { model: 'other' }, { after: first.lastId ?? '' })
    expect(rest).toEqual({ ids: [], hasMore: false, lastId: undefined })
  })
})

/** The smallest item of a job, as a create writes it. */
const ITEM = {
  PK: 'T#tenant',
  SK: 'JOB#job',
  status: 'queued',
  model: 'famB-1.0-t2v',
  createdAt: 1,
  expiresAt: 2,
  videoKey: 'v/1/job.mp4',
  estimate: 700_000,
}

describe('readVideoJobItem: an item', () => {
  it('of a new job is not deleted, waits for no channel and has no strings of an upstream', () => {
    expect(readVideoJobItem(ITEM)).toMatchObject({
      tenantId: 'tenant',
      jobId: 'job',
      estimate: 700_000n,
      isDeleted: false,
      isWaitingForChannel: false,
      isCancelRefused: false,
      goneCount: 0,
      submitText: undefined,
      pollText: undefined,
    })
  })

  it('keeps an estimate beyond the exact range of a double exact', () => {
    expect(readVideoJobItem({ ...ITEM, estimate: 9_007_199_254_740_993n }).estimate).toBe(9_007_199_254_740_993n)
  })

  it('has no known duration where that is null', () => {
    expect(readVideoJobItem({ ...ITEM, durationSeconds: null }).durationSeconds).toBeUndefined()
  })

  it.each([
    ['a status of no job', { status: 'paused' }],
    ['a provider that is no name', { provider: 9 }],
    ['the key of another item', { SK: 'RESERVATION#job' }],
    ['no estimate', { estimate: undefined }],
  ])('with %s is refused', (_, changes) => {
    expect(() => readVideoJobItem({ ...ITEM, ...changes })).toThrow()
  })

  it.each([{ inline: '{"task_id":"1"}' }, { inline: '' }, { bucketKey: 'texts/tenant/job/submit.json' }])(
    'the stored string %j replaces an older one of either form, and is read as it was written',
    (text) => {
      const { set, remove } = storeText('submitText', text)
      const removed = remove.map((name) => [name, undefined])
      const older = { ...ITEM, submitText: 'older', submitTextKey: 'older', ...Object.fromEntries(removed) }
      expect(readVideoJobItem({ ...older, ...set }).submitText).toEqual(text)
    },
  )
})
