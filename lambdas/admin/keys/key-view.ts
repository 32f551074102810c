import { budgetView } from '#core/api/balance.ts'
import type { Budget } from '#core/budgets.ts'
import type { ApiKeyListing } from '#store/keys/api-keys.ts'
import { stateOf } from './key-state.ts'

/** An API key as the admin API shows it, without the key itself. Times in Unix seconds. @param budget of the key, if it has one. */
export function keyView(key: ApiKeyListing, budget: Budget | undefined, nowMilliseconds: number) {
  return {
    id: key.keyId,
    name: key.name,
    tenant: key.tenantId,
    state: stateOf(key, nowMilliseconds),
    models: key.models,
    rate_per_minute: key.ratePerMinute,
    budget: budgetView(budget ?? null, nowMilliseconds),
    created_at: Math.trunc(key.createdAt / 1000),
    expires_at: key.expiresAt === null ? null : Math.trunc(key.expiresAt / 1000),
    last_used_at: null,
  }
}
