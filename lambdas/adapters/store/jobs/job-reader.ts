import { isVisible, JOB_RECORD_SECONDS, type VideoJob } from '#core/jobs/video-job.ts'
import type { Item } from '../table/item-codec.ts'
import type { Table, TableQuery } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { readVideoJobItem } from './video-job-item.ts'

/** Reads a job, strongly consistent. Undefined when the tenant has no job with this id. */
export async function getVideoJob(table: Table, tenantId: string, jobId: string): Promise<VideoJob | undefined> {
  const item = await table.readItem(tableKeys.job(tenantId, jobId))
  return item === undefined ? undefined : readVideoJobItem(item)
}

/** Pages of one listing: enough for 10,000 skipped jobs of a few KB and their deleted neighbours; more is a fault. */
const PAGES_MAX = 200

/** Items read in advance once a page had deleted jobs: where one job was deleted, more usually follow. */
const READ_AHEAD = { first: 10, growth: 2, max: 1_000 }

/** More deleted jobs in a row than a listing reads; a response would say that no jobs follow them. */
class ListingTooLongError extends Error {
  override readonly name = 'ListingTooLongError'
}

/** One page of a listing, newest first, and whether older jobs follow. */
export type JobPage = { readonly jobs: VideoJob[]; readonly hasMore: boolean }

type ListOptions = {
  readonly tenantId: string
  readonly limit: number
  readonly offset: number
  /** A position in the order of ids; only older jobs are listed. */
  readonly after: string | undefined
  readonly nowSeconds: number
}

/**
 * Lists a tenant's visible jobs, newest first: one query backwards over the tenant's partition.
 * Skipped jobs are read and paid for; a cursor (`after`) is the cheap way to go far back.
 * @throws ListingTooLongError when the bound on requests is reached before the page is full or the jobs end.
 */
export async function listVideoJobs(table: Table, options: ListOptions): Promise<JobPage> {
  const jobs: VideoJob[] = []
  const wanted = options.limit + 1
  let startKey: Item | undefined
  let toSkip = options.offset
  for (let page = 0; page < PAGES_MAX && jobs.length < wanted; page += 1) {
    const Limit = toSkip + wanted - jobs.length + readAhead(page)
    const { items, nextKey } = await table.queryPage({ ...jobRange(options), Limit }, startKey)
    const visible = items.map(readVideoJobItem).filter((job) => isVisible(job, options.nowSeconds))
    jobs.push(...visible.slice(toSkip, toSkip + wanted - jobs.length))
    toSkip = Math.max(0, toSkip - visible.length)
    startKey = nextKey
    if (startKey === undefined) {
      break
    }
  }
  if (startKey !== undefined && jobs.length < wanted) {
    throw new ListingTooLongError(`${PAGES_MAX} requests did not fill a page`)
  }
  return { jobs: jobs.slice(0, options.limit), hasMore: jobs.length > options.limit }
}

function readAhead(page: number): number {
  return page === 0 ? 0 : Math.min(READ_AHEAD.max, READ_AHEAD.first * READ_AHEAD.growth ** (page - 1))
}

function jobRange({ tenantId, after, nowSeconds }: ListOptions): TableQuery {
  const { PK, SK: oldest } = tableKeys.job(tenantId, firstIdAt(nowSeconds - JOB_RECORD_SECONDS))
  const newest = after === undefined ? tableKeys.job(tenantId, '~').SK : justBefore(tableKeys.job(tenantId, after).SK)
  return {
    ScanIndexForward: false,
    ConsistentRead: true,
    KeyConditionExpression: 'PK = :pk AND SK BETWEEN :oldest AND :newest',
    // A cursor beyond the oldest visible job makes an empty range, which the table refuses.
    ExpressionAttributeValues: { ':pk': PK, ':oldest': oldest < newest ? oldest : newest, ':newest': newest },
  }
}

/** The smallest UUID of version 7 for a second: its first 48 bits are milliseconds. */
function firstIdAt(seconds: number): string {
  const hex = (seconds * 1000).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}

/** The position directly before an id, so that the range excludes the cursor itself. */
function justBefore(sortKey: string): string {
  const last = sortKey.charCodeAt(sortKey.length - 1)
  return `${sortKey.slice(0, -1)}${String.fromCharCode(last - 1)}~`
}
