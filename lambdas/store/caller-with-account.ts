import * as z from 'zod/mini'
import type { AccountView } from '#core/api/balance.ts'
import { RecentValues } from '../platform/cache.ts'
import { readKeyBudget, readTenantBudget } from './budgets.ts'
import { type Caller, callerOf, readApiKeyRecord } from './callers.ts'
import type { Item, Table } from './table/table.ts'
import { type TableKey, tableKeys } from './table/table-keys.ts'
import { readBalance } from './tenants/tenants.ts'

type ShownKey = { readonly keyDigest: string; readonly nowSeconds: number }

/** A caller, and what its key and its tenant have. */
export type CallerWithAccount = { readonly caller: Caller; readonly account: AccountView }

/** The names under which the rest of a key's account is found. */
type Place = Pick<Caller, 'tenantId' | 'keyId'> & { readonly budgetId: string | undefined }

/** Keys whose place is remembered, about a hundred kilobytes. */
const PLACES_MAX = 1_000

const listingItem = z.object({ name: z._default(z.nullable(z.string()), null) })

/**
 * Finds a caller with its account. Undefined for a key that is unknown, revoked, suspended or expired.
 *
 * The record of a key names its tenant, whose items are read next. The place of a key that was seen before is guessed, and all
 * items are read in one request. The guess says where to look, never who may: the caller comes from the record as it is now.
 */
export function createCallerWithAccountReader() {
  const places = new RecentValues<Place>(PLACES_MAX)
  return async (table: Table, { keyDigest, nowSeconds }: ShownKey): Promise<CallerWithAccount | undefined> => {
    const recordKey = tableKeys.apiKey(keyDigest)
    const guess = places.get(keyDigest)
    const [recordItem, ...items] =
      guess === undefined ? [await table.readItem(recordKey)] : await table.readItems([recordKey, ...keysOf(guess)])
    const record = recordItem === undefined ? undefined : readApiKeyRecord(recordItem, keyDigest)
    const caller = record === undefined ? undefined : callerOf(record, nowSeconds)
    if (record === undefined || caller === undefined) {
      return undefined
    }
    const { tenantId, keyId, models, ratePerMinute } = caller
    const place = { tenantId, keyId, budgetId: caller.budget?.id }
    const isRight = guess !== undefined && samePlace(guess, place)
    places.set(keyDigest, place)
    const [balance, listing, budgetItem] = isRight ? items : await table.readItems(keysOf(place))
    const budget = budgetItem === undefined ? null : readKeyBudget(budgetItem)
    const key = { id: keyId, models, name: nameIn(listing), expiresAt: record.expiresAt ?? null, ratePerMinute, budget }
    const tenantBudget = balance === undefined ? undefined : readTenantBudget(balance)
    return { caller, account: { balance: readBalance(balance).balance, tenantBudget, key } }
  }
}

function keysOf({ tenantId, keyId, budgetId }: Place): TableKey[] {
  const budget = budgetId === undefined ? [] : [tableKeys.keyBudget(budgetId)]
  return [tableKeys.balance(tenantId), tableKeys.apiKeyListing(keyId), ...budget]
}

function samePlace(one: Place, other: Place): boolean {
  return one.tenantId === other.tenantId && one.keyId === other.keyId && one.budgetId === other.budgetId
}

function nameIn(listing: Item | undefined): string | null {
  return listing === undefined ? null : listingItem.parse(listing).name
}
