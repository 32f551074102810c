import * as z from 'zod/mini'
import type { Budget } from '#core/budgets.ts'
import { type Microcredits, microcredits } from '#core/money.ts'
import { readKeyBudget, readTenantBudget } from '../accounts/budget-items.ts'
import type { Item } from '../table/item-codec.ts'
import { queryItems } from '../table/query-items.ts'
import { DUE_INDEX, type Table } from '../table/table.ts'
import { BUDGETS_PARTITION, type TableKey } from '../table/table-keys.ts'

/** A budget of a key, or the balance of a tenant that has a budget or a low mark. */
export type WatchedItem =
  | { readonly of: 'key'; readonly tenantId: string; readonly budgetId: string; readonly budget: Budget }
  | {
      readonly of: 'tenant'
      readonly tenantId: string
      readonly budget: Budget | undefined
      readonly available: Microcredits
      /** Reserved by open requests: comes back where they cost less. */
      readonly held: Microcredits
      /** The balance, held credits included, below which the tenant and the operators are alerted. */
      readonly lowBalance: Microcredits | undefined
    }

/** An item that this service did not write, or that misses a part: one of them must not keep the others from being watched. */
type UnreadableItem = { readonly of: 'unreadable'; readonly tenantId: string; readonly error: unknown }

/** BatchGetItem reads at most 100 items. */
const ITEMS_PER_READ = 100

/** Everything that alerts watch, in batches. Their keys stand in the index and never change there, so watching costs no write. */
export async function* watchedItems(table: Table): AsyncGenerator<(WatchedItem | UnreadableItem)[]> {
  let keys: TableKey[] = []
  for await (const { PK, SK } of queryItems(table, inIndex)) {
    keys.push({ PK: String(PK), SK: String(SK) })
    if (keys.length === ITEMS_PER_READ) {
      yield await readBatch(table, keys)
      keys = []
    }
  }
  if (keys.length > 0) {
    yield await readBatch(table, keys)
  }
}

const inIndex = {
  IndexName: DUE_INDEX,
  KeyConditionExpression: 'GSI1PK = :partition',
  ExpressionAttributeValues: { ':partition': BUDGETS_PARTITION },
} as const

async function readBatch(table: Table, keys: readonly TableKey[]): Promise<(WatchedItem | UnreadableItem)[]> {
  const items = await table.readItems(keys)
  return items.flatMap((item) => (item === undefined ? [] : [tryWatched(item)]))
}

function tryWatched(item: Item): WatchedItem | UnreadableItem {
  try {
    return readWatched(item)
  } catch (error) {
    return { of: 'unreadable', tenantId: String(item.tenantId ?? idOf(String(item.PK))), error }
  }
}

const keyItem = z.object({ PK: z.string(), tenantId: z.string() })
const amount = z.pipe(z.union([z.number(), z.bigint()]), z.transform(microcredits))
const balanceItem = z.object({ PK: z.string(), available: amount, held: amount, lowBalance: z.optional(amount) })

function readWatched(item: Item): WatchedItem {
  if (String(item.PK).startsWith('BUDGET#')) {
    const { PK, tenantId } = keyItem.parse(item)
    return { of: 'key', tenantId, budgetId: idOf(PK), budget: readKeyBudget(item) }
  }
  const { PK, ...balance } = balanceItem.parse(item)
  return { of: 'tenant', tenantId: idOf(PK), budget: readTenantBudget(item), lowBalance: undefined, ...balance }
}

function idOf(partition: string): string {
  return partition.slice(partition.indexOf('#') + 1)
}
