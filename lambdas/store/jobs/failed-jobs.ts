import * as z from 'zod/mini'
import type { FailedJobs } from '#core/admin/summary.ts'
import { change } from '../table/expressions.ts'
import { type Item, queryBounded, type Table } from '../table/table.ts'
import { isSortKey, type JobKey, type TableKey, tableKeys } from '../table/table-keys.ts'

const HOUR_MILLISECONDS = 60 * 60 * 1000

/** Nobody asks for an hour that is older. */
const KEPT_SECONDS = 24 * 60 * 60

/** Pages of a megabyte, each of some 8,000 tenants. */
const PAGES_MAX = 2

const failedItem = z.object({ SK: z.string(), failed: z.number(), latestJobId: z.string() })

/**
 * Counts one failed job of a tenant in the current hour. It is a hint for people, so it stands outside the transaction that ends the job: a
 * process that dies in between leaves the job uncounted. One try.
 * @throws the error of the one try.
 */
export async function countFailedJob(
  table: Pick<Table, 'updateItem'>,
  { tenantId, jobId }: JobKey,
  nowMilliseconds: number,
): Promise<void> {
  const ttl = Math.trunc(nowMilliseconds / 1000) + KEPT_SECONDS
  const counted = { set: { latestJobId: jobId, ttl }, add: { failed: 1 } }
  const key = tableKeys.failedJobs(hourOf(nowMilliseconds), tenantId)
  await table.updateItem(change(key, counted), { isTriedOnce: true })
}

/** The items of a tenant that {@link failedJobsOf} adds up. */
export function failedJobsKeys(tenantId: string, nowMilliseconds: number): readonly TableKey[] {
  const keys = [hourBefore(nowMilliseconds), nowMilliseconds].map((at) => tableKeys.failedJobs(hourOf(at), tenantId))
  // An unknown tenant may be asked for by any id.
  return keys.filter(({ SK }) => isSortKey(SK))
}

/** The failed jobs of one tenant, from its items; undefined where none failed. */
export function failedJobsOf(items: readonly (Item | undefined)[], nowMilliseconds: number): FailedJobs | undefined {
  const hours = items.flatMap((item) => (item === undefined ? [] : [failedItem.parse(item)]))
  const latest = hours.toSorted((left, right) => (left.SK < right.SK ? -1 : 1)).at(-1)
  return (
    latest && {
      count: hours.reduce((sum, { failed }) => sum + failed, 0),
      since: hourBefore(nowMilliseconds),
      latestJobId: latest.latestJobId,
    }
  )
}

/** The failed jobs of all tenants that have some, by a bounded number of queries. */
export async function readFailedJobs(
  table: Pick<Table, 'queryPage'>,
  nowMilliseconds: number,
): Promise<ReadonlyMap<string, FailedJobs>> {
  const query = {
    KeyConditionExpression: 'PK = :pk AND SK >= :from',
    ExpressionAttributeValues: {
      ':pk': tableKeys.failedJobs('', '').PK,
      ':from': hourOf(hourBefore(nowMilliseconds)),
    },
  }
  const { items } = await queryBounded(table, query, PAGES_MAX)
  const byTenant = Map.groupBy(items, ({ SK }) => String(SK).slice('yyyy-mm-ddThh#'.length))
  return new Map(
    [...byTenant].flatMap(([tenantId, hours]) => {
      const failed = failedJobsOf(hours, nowMilliseconds)
      return failed === undefined ? [] : [[tenantId, failed] as const]
    }),
  )
}

function hourOf(atMilliseconds: number): string {
  return new Date(atMilliseconds).toISOString().slice(0, 'yyyy-mm-ddThh'.length)
}

/** The begin of the hour before. */
function hourBefore(nowMilliseconds: number): number {
  return (Math.floor(nowMilliseconds / HOUR_MILLISECONDS) - 1) * HOUR_MILLISECONDS
}
