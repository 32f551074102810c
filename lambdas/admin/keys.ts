import { readPageLimit, readQueryTenant, readQueryText } from '#core/admin/page-query.ts'
import type { Budget } from '#core/budgets.ts'
import { readKeyBudgets } from '#store/key-budgets.ts'
import { type ApiKeyListing, getApiKey, listApiKeyPage } from '#store/keys/api-keys.ts'
import { budgetJson } from './budgets.ts'
import { defineOperation, existingTenant, isoSeconds, isoTime } from './operation.ts'

/** How requests with a key are treated. */
export type KeyState = 'revoked' | 'expired' | 'suspended' | 'active'

/** How requests with the key are treated. The first state that applies counts. */
export function stateOf(
  { state, suspended, expiresAt }: Pick<ApiKeyListing, 'state' | 'suspended' | 'expiresAt'>,
  nowMilliseconds: number,
): KeyState {
  if (state === 'revoked') {
    return 'revoked'
  }
  if (expiresAt !== null && expiresAt <= nowMilliseconds) {
    return 'expired'
  }
  return suspended ? 'suspended' : 'active'
}

/** Whose key it is, for the key of a subject. */
function identityJson({ issuer, subject, rule }: NonNullable<ApiKeyListing['identity']>): {
  readonly issuer?: string | undefined
  readonly subject?: string | undefined
  readonly rule?: string | undefined
} {
  return { issuer, subject, rule }
}

/** Findings and alerts name a budget by its id, which is another one than the key's where keys or subjects share it. */
function sharedBudget({ keyId, budget }: ApiKeyListing): { readonly budget_id?: string | undefined } {
  return budget === null || budget.id === keyId ? {} : { budget_id: budget.id }
}

/** A key as operations show it, without the key itself. @param budget of the key, if it has one. */
export function keyJson(key: ApiKeyListing, budget: Budget | undefined, nowMilliseconds: number) {
  const isMissing = key.budget !== null && budget === undefined
  const missing: { readonly budget_missing?: boolean | undefined } = isMissing ? { budget_missing: true } : {}
  return {
    id: key.keyId,
    tenant: key.tenantId,
    state: stateOf(key, nowMilliseconds),
    models: key.models,
    created_at: isoTime(key.createdAt),
    name: key.name,
    expires_at: key.expiresAt === null ? null : isoSeconds(key.expiresAt),
    rate_per_minute: key.ratePerMinute,
    budget: budgetJson(budget, nowMilliseconds),
    ...missing,
    ...sharedBudget(key),
    ...(key.identity === undefined ? {} : identityJson(key.identity)),
  }
}

/** DynamoDB's bound of one read of several items, which reads the budgets of a page. */
const KEYS_MAX = 100

/** One query, and one read of the budgets of the page. */
export const listKeys = defineOperation({
  name: 'list-keys',
  method: 'GET',
  path: '/admin/v1/keys',
  access: 'tenant-viewer',
  readsTenant: true,
  query: { tenant: readQueryTenant, after: readQueryText, limit: readPageLimit },
  async run({ tenant, after, limit }, context) {
    const { table, nowMilliseconds } = context
    const now = nowMilliseconds()
    const wish = { limit: Math.min(limit, KEYS_MAX), tenantId: existingTenant(context, tenant), after }
    const { keys, next } = await listApiKeyPage(table, wish)
    const budgets = await readKeyBudgets(table, keys)
    return {
      keys: keys.map((key) => keyJson(key, budgets.get(key.budget?.id ?? ''), now)),
      has_more: next !== undefined,
      next: next ?? null,
      as_of: isoTime(now),
    }
  },
})

/** By two requests to the table. */
export const getKey = defineOperation({
  name: 'get-key',
  method: 'GET',
  path: '/admin/v1/keys/{key_id}',
  access: 'tenant-viewer',
  async run({ key_id: keyId }, { table, nowMilliseconds }) {
    const { listing } = await getApiKey(table, keyId)
    const budgets = await readKeyBudgets(table, [listing])
    return keyJson(listing, budgets.get(listing.budget?.id ?? ''), nowMilliseconds())
  },
})

/** The operations of keys that read. */
export const KEY_READS = [listKeys, getKey] as const
