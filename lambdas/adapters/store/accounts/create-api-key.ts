import { formatApiKey, keyIdOf } from '#core/api-key.ts'
import { type BudgetLimit, periodAt } from '#core/budgets.ts'
import { ZERO } from '#core/money.ts'
import { randomBase62 } from '../../crypto/random-base62.ts'
import { sha256Hex } from '../../crypto/sha256.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Table } from '../table/table.ts'
import type { BudgetOfKey } from './api-key-record.ts'
import { putKeyBudget } from './budget-items.ts'
import type { ReplacedApiKey } from './key-admin.ts'
import { putApiKey } from './put-api-key.ts'

const KEY_ID_CHARACTERS = 8
const SECRET_CHARACTERS = 32

/** A new API key, with 190 random bits in its secret. */
export function generateApiKey(): string {
  return formatApiKey(randomBase62(KEY_ID_CHARACTERS), randomBase62(SECRET_CHARACTERS))
}

type KeyToStore = {
  readonly key: string
  readonly tenantId: string
  /** Models the key may use; null for all. */
  readonly models: readonly string[] | null
  /** The operator's name for the key. */
  readonly name?: string | undefined
  /** Unix milliseconds, rounded down to whole seconds; undefined for a key that does not expire. */
  readonly expiresAt?: number | undefined
  /** Requests per minute, at least 1; undefined for no limit. */
  readonly ratePerMinute?: number | undefined
  /** Begins a budget with the key. */
  readonly budgetLimit?: BudgetLimit | undefined
  /** A budget that other keys have too. */
  readonly budget?: BudgetOfKey | undefined
  readonly replaces?: ReplacedApiKey | undefined
}

/**
 * Stores a key by its digest; the key itself is stored nowhere. The key of a suspended tenant is suspended too. A key that is stored
 * already with the same limits stays as it is.
 * @returns its public id.
 * @throws RangeError for a rate that is not a whole number from 1 to 60,000.
 * @throws StoreRefusal `not_found`, `changed_meanwhile` for the key that it replaces.
 */
export async function storeApiKey(
  table: Table,
  { key, budgetLimit, ...rest }: KeyToStore,
  actor: Actor,
): Promise<string> {
  const digest = sha256Hex(key)
  const keyId = keyIdOf(key) ?? digest.slice(0, KEY_ID_CHARACTERS)
  const createdAt = Date.now()
  const begun =
    budgetLimit === undefined ? {} : beginBudget({ tenantId: rest.tenantId, keyId, limit: budgetLimit, createdAt })
  await putApiKey(table, { ...rest, ...begun, keyId, digest, createdAt }, actor)
  return keyId
}

type Beginning = {
  readonly tenantId: string
  readonly keyId: string
  readonly limit: BudgetLimit
  readonly createdAt: number
}

/** The budget of a new key has the key's id. */
function beginBudget({ tenantId, keyId, limit, createdAt }: Beginning) {
  const { amount, kind } = limit
  const budget = { amount, period: periodAt(kind, createdAt), spent: ZERO, held: ZERO, left: amount, free: amount }
  return { budget: { id: keyId, kind }, newBudget: { limit, write: putKeyBudget(tenantId, keyId, budget) } }
}
