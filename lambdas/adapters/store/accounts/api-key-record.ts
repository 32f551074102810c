import * as z from 'zod/mini'
import { PERIOD_KINDS, type PeriodKind } from '#core/budgets.ts'
import type { ConditionCheck, Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

/** Who calls: the tenant, and what the key may do. */
export type Caller = {
  readonly tenantId: string
  readonly keyId: string
  readonly keyDigest: string
  /** Counts the changes of the key; undefined for a key that was never changed. */
  readonly revision?: number | undefined
  /** Models the key may use; null for all. */
  readonly models: readonly string[] | null
  /** Requests that the key may send in a minute; undefined for no limit. */
  readonly ratePerMinute?: number | undefined
  /** The budget in which the requests of the key count; undefined without one. */
  readonly budget?: BudgetOfKey | undefined
}

/** Names the budget of a key, which its successors share. `kind` may be out of date: another of these keys may have changed it. */
export type BudgetOfKey = { readonly id: string; readonly kind: PeriodKind }

/** What is stored of an API key. */
export type ApiKeyRecord = {
  readonly caller: Caller
  readonly state: 'active' | 'revoked'
  /** Whether its tenant is suspended. */
  readonly suspended: boolean
  /** Unix seconds; undefined for a key that does not expire. */
  readonly expiresAt: number | undefined
}

const apiKeyItem = z.object({
  tenantId: z.string(),
  keyId: z.string(),
  state: z.enum(['active', 'revoked']),
  models: z.nullable(z.array(z.string())),
  expiresAt: z.optional(z.number()),
  ratePerMinute: z.optional(z.number()),
  suspended: z._default(z.boolean(), false),
  revision: z.optional(z.number()),
  budgetId: z.optional(z.string()),
  budgetPeriod: z.optional(z.enum(PERIOD_KINDS)),
})

/** Reads a stored key. @throws ZodError for an item that this service did not write. */
export function readApiKeyRecord(item: unknown, keyDigest: string): ApiKeyRecord {
  const { state, suspended, expiresAt, budgetId, budgetPeriod = 'total', ...named } = apiKeyItem.parse(item)
  const { tenantId, keyId, revision, models, ratePerMinute } = named
  const budget = budgetId === undefined ? undefined : { id: budgetId, kind: budgetPeriod }
  return {
    caller: { tenantId, keyId, keyDigest, revision, models, ratePerMinute, budget },
    state,
    suspended,
    expiresAt,
  }
}

/** The caller of a key that may be used at this time; undefined for a key that is revoked, suspended or expired. */
export function callerOf(
  { caller, state, suspended, expiresAt }: ApiKeyRecord,
  nowSeconds: number,
): Caller | undefined {
  const isUsable = state === 'active' && !suspended
  return isUsable && (expiresAt === undefined || expiresAt > nowSeconds) ? caller : undefined
}

/** The caller of a key's item in the table; undefined for a key that is unknown, revoked, suspended or expired. */
export function readCaller(
  item: unknown,
  { keyDigest, nowSeconds }: { keyDigest: string; nowSeconds: number },
): Caller | undefined {
  return item === undefined ? undefined : callerOf(readApiKeyRecord(item, keyDigest), nowSeconds)
}

/**
 * Finds the caller of an API key by a strongly consistent read, so that a revoked key is refused at its next request.
 * Undefined for a key that is unknown, revoked, suspended or expired.
 */
export async function findCaller(table: Table, keyDigest: string, nowSeconds: number): Promise<Caller | undefined> {
  return readCaller(await table.readItem(tableKeys.apiKey(keyDigest)), { keyDigest, nowSeconds })
}

/** A key as a request read it. */
export type KeyRead = Pick<Caller, 'keyDigest' | 'revision'>

/**
 * The same rule as {@link callerOf}, as a condition: a transaction that locks funds fails with a key that has been revoked, suspended or
 * changed, or has expired, since it was read.
 */
export function activeKeyCheck({ keyDigest, revision }: KeyRead, nowSeconds: number): ConditionCheck {
  const keyIsActive = '#state = :active'
  const tenantIsNotSuspended = 'attribute_not_exists(suspended)'
  const keyHasNotExpired = '(attribute_not_exists(expiresAt) OR expiresAt > :now)'
  const keyHasNotChanged = revision === undefined ? 'attribute_not_exists(revision)' : 'revision = :revision'
  return {
    Key: tableKeys.apiKey(keyDigest),
    ConditionExpression: [keyIsActive, tenantIsNotSuspended, keyHasNotExpired, keyHasNotChanged].join(' AND '),
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: {
      ':active': 'active',
      ':now': nowSeconds,
      ...(revision === undefined ? {} : { ':revision': revision }),
    },
  }
}
