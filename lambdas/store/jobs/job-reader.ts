import * as z from 'zod/mini'
import { firstIdAt, justBefore } from '#core/ids.ts'
import { creationTimes, isSparse, type JobFilter, matchesFilter } from '#core/jobs/list-query.ts'
import { inOrder, isVisible, JOB_RECORD_SECONDS, type StoredText, type VideoJob } from '#core/jobs/video-job.ts'
import { storedAmount } from '../table/attributes.ts'
import type { Item, Table, TableQuery } from '../table/table.ts'
import { type JobKey, tableKeys } from '../table/table-keys.ts'

const SK_PREFIX = 'JOB#'
const PK_PREFIX = 'T#'

/** The item of a job. Its types are checked here and nowhere else. */
const videoJobItem = z.object({
  PK: z.string().check(z.startsWith(PK_PREFIX)),
  SK: z.string().check(z.startsWith(SK_PREFIX)),
  status: z.enum(['queued', 'processing', 'succeeded', 'failed']),
  model: z.string(),
  createdAt: z.number(),
  expiresAt: z.number(),
  videoKey: z.string(),
  estimate: storedAmount,
  callbackUrl: z.optional(z.string()),
  requestId: z.optional(z.string()),
  deleted: z.optional(z.boolean()),
  cancelledAt: z.optional(z.number()),
  cancellation: z.optional(z.string()),
  isWaitingForChannel: z.optional(z.boolean()),
  referenceCheck: z.optional(z.enum(['asked', 'refused'])),
  submitState: z.optional(z.enum(['sending', 'accepted'])),
  channelId: z.optional(z.string()),
  provider: z.optional(z.string()),
  submittedAt: z.optional(z.number()),
  taskId: z.optional(z.string()),
  acceptedAt: z.optional(z.number()),
  upstreamPercent: z.optional(z.object({ percent: z.number(), since: z.optional(z.number()) })),
  timing: z.optional(
    z.object({ className: z.string(), usual: z.optional(z.object({ early: z.number(), median: z.number() })) }),
  ),
  submitText: z.optional(z.string()),
  submitTextKey: z.optional(z.string()),
  pollText: z.optional(z.string()),
  pollTextKey: z.optional(z.string()),
  goneCount: z.optional(z.number()),
  isCancelRefused: z.optional(z.boolean()),
  finishedAt: z.optional(z.number()),
  storedDurationSeconds: z.optional(z.string()),
  storedAt: z.optional(z.number()),
  failure: z.optional(z.string()),
  failureCause: z.optional(z.string()),
  errorCode: z.optional(z.string()),
  error: z.optional(z.string()),
  durationSeconds: z.nullish(z.string()),
  billed: z.optional(storedAmount),
  endedAt: z.optional(z.number()),
  callbackState: z.optional(z.literal('sent')),
  callbackResends: z.optional(z.number()),
  callbackAttempts: z.optional(
    z.array(
      z.object({
        at: z.number(),
        attempt: z.number(),
        status: z.optional(z.number()),
        milliseconds: z.number(),
        error: z.optional(z.string()),
        delivered: z.boolean(),
      }),
    ),
  ),
})

/** Reads a job's item. @throws ZodError for an item that is not a job, which only a fault of this service could write. */
export function readVideoJobItem(item: unknown): VideoJob {
  const { PK, SK, deleted, submitText, submitTextKey, pollText, pollTextKey, ...rest } = videoJobItem.parse(item)
  return {
    ...optionalFields(rest),
    tenantId: PK.slice(PK_PREFIX.length),
    jobId: SK.slice(SK_PREFIX.length),
    isDeleted: deleted ?? false,
    submitText: storedText(submitText, submitTextKey),
    pollText: storedText(pollText, pollTextKey),
  }
}

type Rest = Omit<z.infer<typeof videoJobItem>, 'PK' | 'SK' | 'deleted' | `${'submit' | 'poll'}Text${'' | 'Key'}`>

function optionalFields(item: Rest) {
  return {
    ...item,
    isWaitingForChannel: item.isWaitingForChannel ?? false,
    callbackUrl: item.callbackUrl,
    submitState: item.submitState,
    channelId: item.channelId,
    provider: item.provider,
    submittedAt: item.submittedAt,
    taskId: item.taskId,
    goneCount: item.goneCount ?? 0,
    isCancelRefused: item.isCancelRefused ?? false,
    finishedAt: item.finishedAt,
    storedDurationSeconds: item.storedDurationSeconds,
    failure: item.failure,
    error: item.error,
    durationSeconds: item.durationSeconds ?? undefined,
    callbackState: item.callbackState,
    callbackAttempts: item.callbackAttempts && inOrder(item.callbackAttempts),
  }
}

function storedText(inline: string | undefined, bucketKey: string | undefined): StoredText | undefined {
  if (bucketKey !== undefined) {
    return { bucketKey }
  }
  return inline === undefined ? undefined : { inline }
}

/** The change that stores a string: one of its two attributes is set, the other removed. */
export function storeText(name: 'submitText' | 'pollText', text: StoredText) {
  return 'inline' in text
    ? { set: { [name]: text.inline }, remove: [`${name}Key`] }
    : { set: { [`${name}Key`]: text.bucketKey }, remove: [name] }
}

/** The clause that a job has not ended. */
export const isOpen = {
  condition: '#status IN (:queued, :processing)',
  values: { ':queued': 'queued', ':processing': 'processing' },
}

/** Reads a job, strongly consistent. Undefined when the tenant has no job with this id. */
export async function getVideoJob(table: Table, tenantId: string, jobId: string): Promise<VideoJob | undefined> {
  const item = await table.readItem(tableKeys.job(tenantId, jobId))
  return item === undefined ? undefined : readVideoJobItem(item)
}

/** The part of a job's item that says whether the job occupies its channel. */
const placeItem = z.pick(videoJobItem, { status: true, channelId: true })

/**
 * Reads the places of up to 100 different jobs in one request, strongly consistent, and nothing else of their records: Reconcile reads those of
 * all open jobs. Leaves out jobs that are not there.
 * @throws when a record cannot be read.
 */
export async function getJobPlaces(
  table: Table,
  jobs: readonly JobKey[],
): Promise<Pick<VideoJob, 'status' | 'channelId'>[]> {
  const keys = jobs.map(({ tenantId, jobId }) => tableKeys.job(tenantId, jobId))
  const items = await table.readItems(keys, ['status', 'channelId'])
  return items.flatMap((item) => (item === undefined ? [] : [{ channelId: undefined, ...placeItem.parse(item) }]))
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
type JobPage = {
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
  const { PK, SK: oldest } = tableKeys.job(tenantId, firstIdAt(firstSecond * 1000))
  const ends = [
    after === undefined ? '~' : justBefore(after),
    before === Number.POSITIVE_INFINITY ? '~' : firstIdAt((before + CLOCK_SLACK_SECONDS) * 1000),
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
