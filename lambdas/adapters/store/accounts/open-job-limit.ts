import { queryItems } from '../table/query-items.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { TenantNotFoundError } from './tenant-store.ts'

/** Recounts while the tenant's money keeps moving. After the last one, a later change of the limit counts again. */
const RECOUNTS_MAX = 5

/**
 * Limits how many video jobs of a tenant may be open at a time, from its next create on; null removes the limit. Jobs that
 * are open already stay, even above the limit. Open jobs are counted again, because two versions that serve at the same time,
 * during an upgrade, may have left a wrong count.
 * @throws RangeError for a limit that is not a whole number. @throws TenantNotFoundError when there is no such tenant.
 */
export async function setOpenJobLimit(table: Table, tenantId: string, limit: number | null): Promise<void> {
  if (limit !== null && !(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new RangeError(`${limit} open jobs: use a whole number from 0`)
  }
  const change =
    limit === null
      ? { UpdateExpression: 'REMOVE openJobsMax' }
      : {
          // The condition of a create compares the two, and a tenant without a job since jobs are counted has no count.
          UpdateExpression: 'SET openJobsMax = :limit, openJobs = if_not_exists(openJobs, :none)',
          ExpressionAttributeValues: { ':limit': limit, ':none': 0 },
        }
  const isKnown = { ConditionExpression: 'attribute_exists(PK)' }
  const { isWritten } = await table.updateItem({ Key: tableKeys.balance(tenantId), ...change, ...isKnown })
  if (!isWritten) {
    throw new TenantNotFoundError(`no tenant ${tenantId}`)
  }
  for (let recount = 0; recount < RECOUNTS_MAX; recount += 1) {
    if (await recountOpenJobs(table, tenantId)) {
      return
    }
  }
}

/** @returns whether the count is right now. */
async function recountOpenJobs(table: Table, tenantId: string): Promise<boolean> {
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
