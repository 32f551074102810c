import { type Actor, auditEntry } from '../audit/audit-entry.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import { queryItems } from '../table/query-items.ts'
import type { ItemUpdate, Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { getTenant } from './tenant-store.ts'

/** Recounts while the tenant's money keeps moving. After the last one, a later change of the limit counts again. */
const RECOUNTS_MAX = 5

/** Reads and writes while other commands change the same limit. */
const TRIES_MAX = 5

/**
 * Limits how many video jobs of a tenant may be open at a time, from its next create on; null removes the limit. Jobs that
 * are open already stay, even above the limit. A changed limit and the entry of the audit log are one transaction. Open jobs are counted
 * again, because two versions that serve at the same time, during an upgrade, may have left a wrong count.
 * @throws RangeError for a limit that is not a whole number. @throws StoreRefusal `not_found` when there is no such tenant.
 */
export async function setOpenJobLimit(table: Table, tenantId: string, { limit, actor }: LimitBy): Promise<void> {
  if (limit !== null && !(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new RangeError(`${limit} open jobs: use a whole number from 0`)
  }
  await changeLimit(table, tenantId, { limit, actor })
  await recountOpenJobs(table, tenantId)
}

/** Counts the open jobs of a tenant again, because the count may be wrong since an upgrade. */
export async function recountOpenJobs(table: Table, tenantId: string): Promise<void> {
  for (let recount = 0; recount < RECOUNTS_MAX; recount += 1) {
    if (await isRecounted(table, tenantId)) {
      return
    }
  }
}

type LimitBy = { readonly limit: number | null; readonly actor: Actor }

async function changeLimit(table: Table, tenantId: string, { limit, actor }: LimitBy): Promise<void> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const { openJobs } = await getTenant(table, tenantId)
    if (openJobs.max === limit) {
      return
    }
    const audit = auditEntry({
      actor,
      action: 'tenant limit',
      target: { kind: 'tenant', id: tenantId },
      before: { openJobs: openJobs.max },
      after: { openJobs: limit },
      at: Date.now(),
    })
    try {
      return await table.transact({
        limit: { Update: openJobLimitUpdate(tenantId, { was: openJobs.max, limit }) },
        audit,
      })
    } catch (error) {
      if (!(error instanceof ConditionsNotMetError)) {
        throw error
      }
    }
  }
  throw new StoreRefusal(
    'changed_meanwhile',
    `the open-job limit of tenant ${tenantId} is being changed by other commands`,
  )
}

/** Changes the limit of a balance that has the limit that was read. The two limits differ. */
export function openJobLimitUpdate(
  tenantId: string,
  { was, limit }: { readonly was: number | null; readonly limit: number | null },
): ItemUpdate {
  return {
    Key: tableKeys.balance(tenantId),
    // The condition of a create compares the two, and a tenant without a job since jobs are counted has no count.
    UpdateExpression:
      limit === null ? 'REMOVE openJobsMax' : 'SET openJobsMax = :limit, openJobs = if_not_exists(openJobs, :none)',
    ConditionExpression:
      was === null ? 'attribute_exists(PK) AND attribute_not_exists(openJobsMax)' : 'openJobsMax = :was',
    // One of the two is a number, because an equal limit is not set.
    ExpressionAttributeValues: {
      ...(limit === null ? {} : { ':limit': limit, ':none': 0 }),
      ...(was === null ? {} : { ':was': was }),
    },
  }
}

/** @returns whether the count is right now. */
async function isRecounted(table: Table, tenantId: string): Promise<boolean> {
  const { openJobs = 0, available, held, spent } = { ...(await table.readItem(tableKeys.balance(tenantId))) }
  const counted = await countReservations(table, tenantId)
  if (openJobs === counted) {
    return true
  }
  // Every transaction that opens or ends a job also moves the money or the count.
  const nothingHasMoved = 'openJobs = :openJobs AND available = :available AND held = :held AND spent = :spent'
  const { isWritten } = await table.updateItem({
    Key: tableKeys.balance(tenantId),
    UpdateExpression: 'SET openJobs = :counted',
    ConditionExpression: nothingHasMoved,
    ExpressionAttributeValues: {
      ':counted': counted,
      ':openJobs': openJobs,
      ':available': available,
      ':held': held,
      ':spent': spent,
    },
  })
  return isWritten
}

/** Open reservations of jobs that the count includes. */
async function countReservations(table: Table, tenantId: string): Promise<number> {
  const { PK, SK } = tableKeys.reservation(tenantId, '')
  const open = queryItems(table, {
    KeyConditionExpression: 'PK = :pk AND begins_with(SK, :sk)',
    FilterExpression: '#state = :held AND counted = :true',
    ProjectionExpression: 'SK',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':pk': PK, ':sk': SK, ':held': 'held', ':true': true },
    ConsistentRead: true,
  })
  let count = 0
  for await (const _ of open) {
    count += 1
  }
  return count
}
