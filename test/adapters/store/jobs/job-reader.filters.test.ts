import { v7 as uuidv7 } from 'uuid'
import { beforeAll, describe, expect, it } from 'vitest'
import { listVideoJobs } from '#adapters/store/jobs/job-reader.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import type { JobFilter } from '#core/jobs/list-query.ts'
import { JOB_LIFETIME_SECONDS, type VideoJobStatus } from '#core/jobs/video-job.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { openTenant } from '../../../engines/video-jobs.ts'

const NOW = Math.trunc(Date.now() / 1000)

const engine = useTestTable()
let table: TableWithClient
beforeAll(async () => {
  table = engine.table
})

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

describe('a filtered listing', () => {
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
