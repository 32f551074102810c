import { creationTimes, isSparse, type JobFilter, matchesFilter } from '#core/jobs/list-query.ts'
import { isVisible, JOB_RECORD_SECONDS, type VideoJob } from '#core/jobs/video-job.ts'
import type { Item } from '../table/item-codec.ts'
import type { Table, TableQuery } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { readJobPlace, readVideoJobItem } from './video-job-item.ts'

/** Reads a job, strongly consistent. Undefined when the tenant has no job with this id. */
export async function getVideoJob(table: Table, tenantId: string, jobId: string): Promise<VideoJob | undefined> {
  const item = await table.readItem(tableKeys.job(tenantId, jobId))
  return item === undefined ? undefined : readVideoJobItem(item)
}

/** What says whether a job occupies its channel. */
type JobPlace = Pick<VideoJob, 'status' | 'channelId'>

/**
 * Reads the places of up to 100 different jobs in one request, strongly consistent, and nothing else of their records: Reconcile reads those of
 * all open jobs. Leaves out jobs that are not there.
 * @throws when a record cannot be read.
 */
export async function getJobPlaces(
  table: Table,
  jobs: readonly Pick<VideoJob, 'tenantId' | 'jobId'>[],
): Promise<JobPlace[]> {
  const keys = jobs.map(({ tenantId, jobId }) => tableKeys.job(tenantId, jobId))
  const items = await table.readItems(keys, ['status', 'channelId'])
  return items.flatMap((item) => (item === undefined ? [] : [readJobPlace(item)]))
}

/** Pages of one listing: enough for 10,000 skipped jobs of a few KB and their deleted neighbours; more is a fault. */
const PAGES_MAX = 200

/** What a listing by status or model reads at most before its page ends early: requests, and jobs in all of them. */
const SPARSE = { pagesMax: 10, jobsMax: 1_000, firstJobs: 100 } as const

/** Items read in advance once a page had jobs that are left out: where one was, more usually follow. */
const READ_AHEAD = { first: 10, growth: 2, max: 1_000 }

/** More deleted jobs in a row than a listing reads; a response would say that no jobs follow them. */
class ListingTooLongError extends Error {
  override readonly name = 'ListingTooLongError'
}

/** One page of a listing, newest first, and whether older jobs may follow. */
export type JobPage = {
  readonly jobs: VideoJob[]
  readonly hasMore: boolean
  /** The id after which the next page starts; undefined on an empty page that nothing follows. */
  readonly lastId: string | undefined
}

type ListOptions = {
  readonly tenantId: string
  readonly limit: number
  readonly offset: number
  /** A position in the order of ids; only older jobs are listed. */
  readonly after: string | undefined
  readonly filter?: JobFilter | undefined
  /** Ends a page early, as a filter does, after this many requests. */
  readonly requestsMax?: number
  readonly nowSeconds: number
}

/**
 * Lists a tenant's visible jobs that match the filter, newest first: one query backwards over the tenant's partition.
 * Skipped jobs are read and paid for; a cursor (`after`) is the cheap way to go far back. A page by status or model ends early,
 * even empty, when its reads are used up; `lastId` is then the last job that was looked at.
 * @throws ListingTooLongError when the bound on requests is reached before any other page is full or the jobs end.
 */
export async function listVideoJobs(table: Pick<Table, 'queryPage'>, options: ListOptions): Promise<JobPage> {
  const range = jobRange(options)
  if (range === undefined) {
    return { jobs: [], hasMore: false, lastId: undefined }
  }
  const filter = options.filter ?? {}
  const { requestsMax } = options
  const mayEndEarly = isSparse(filter) || requestsMax !== undefined
  const pagesMax = requestsMax ?? (mayEndEarly ? SPARSE.pagesMax : PAGES_MAX)
  const jobs: VideoJob[] = []
  const wanted = options.limit + 1
  let startKey: Item | undefined
  let toSkip = options.offset
  let looked = 0
  for (let page = 0; page < pagesMax && jobs.length < wanted; page += 1) {
    const needed = toSkip + wanted - jobs.length + readAhead(page)
    const Limit = mayEndEarly ? Math.min(Math.max(needed, SPARSE.firstJobs), SPARSE.jobsMax - looked) : needed
    const { items, nextKey } = await table.queryPage({ ...range, Limit }, startKey)
    const found = items
      .map(readVideoJobItem)
      .filter((job) => isVisible(job, options.nowSeconds) && matchesFilter(job, filter, options.nowSeconds))
    jobs.push(...found.slice(toSkip, toSkip + wanted - jobs.length))
    toSkip = Math.max(0, toSkip - found.length)
    startKey = nextKey
    looked += items.length
    if (startKey === undefined || (mayEndEarly && looked >= SPARSE.jobsMax)) {
      break
    }
  }
  if (startKey !== undefined && jobs.length < wanted && !mayEndEarly) {
    throw new ListingTooLongError(`${PAGES_MAX} requests did not fill a page`)
  }
  return pageOf(jobs, options.limit, startKey)
}

/** @param rest where the reads stopped, if they stopped before the end. */
function pageOf(found: readonly VideoJob[], limit: number, rest: Item | undefined): JobPage {
  const jobs = found.slice(0, limit)
  const isCutShort = rest !== undefined && found.length <= limit
  const lastId = isCutShort ? jobIdOfKey(rest) : jobs.at(-1)?.jobId
  return { jobs, hasMore: found.length > limit || isCutShort, lastId }
}

function jobIdOfKey({ SK }: Item): string {
  return String(SK).slice(tableKeys.job('', '').SK.length)
}

function readAhead(page: number): number {
  return page === 0 ? 0 : Math.min(READ_AHEAD.max, READ_AHEAD.first * READ_AHEAD.growth ** (page - 1))
}

/** An id is made at most this long before or after the creation time of its job, which the filter compares. */
const CLOCK_SLACK_SECONDS = 5

/** The keys of all jobs that may match; undefined where there can be none. */
function jobRange({ tenantId, after, filter = {}, nowSeconds }: ListOptions): TableQuery | undefined {
  const { from, before } = creationTimes(filter, nowSeconds)
  const firstSecond = Math.max(nowSeconds - JOB_RECORD_SECONDS, from - CLOCK_SLACK_SECONDS)
  const { PK, SK: oldest } = tableKeys.job(tenantId, firstIdAt(firstSecond))
  const ends = [
    after === undefined ? '~' : justBefore(after),
    before === Number.POSITIVE_INFINITY ? '~' : firstIdAt(before + CLOCK_SLACK_SECONDS),
  ]
  const newest = tableKeys.job(tenantId, ends.toSorted()[0] ?? '~').SK
  return oldest > newest
    ? undefined // The table refuses an empty range.
    : {
        ScanIndexForward: false,
        ConsistentRead: true,
        KeyConditionExpression: 'PK = :pk AND SK BETWEEN :oldest AND :newest',
        ExpressionAttributeValues: { ':pk': PK, ':oldest': oldest, ':newest': newest },
      }
}

/** The smallest UUID of version 7 for a second: its first 48 bits are milliseconds. */
function firstIdAt(seconds: number): string {
  const hex = (seconds * 1000).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}

/** The position directly before an id, so that the range excludes the cursor itself. */
function justBefore(id: string): string {
  const last = id.charCodeAt(id.length - 1)
  return `${id.slice(0, -1)}${String.fromCharCode(last - 1)}~`
}
