import type { ApiKeyListing } from '#adapters/store/accounts/api-key-listing.ts'
import { type Budget, budgetAt, formatBudgetLimit } from '#core/budgets.ts'
import { formatCredits } from '#core/money.ts'
import { stateOf } from '#lambdas/admin/keys/key-state.ts'
import { budgetJson, budgetText } from '../budgets/describe-budget.ts'
import { type Answer, formatTable } from '../command-line/answer.ts'

/** What a new key may do. */
export type KeyWish = {
  /** Null for all models. */
  readonly models: readonly string[] | null
  readonly name: string | undefined
  /** Unix milliseconds; undefined for a key that does not expire. */
  readonly expiresAt: number | undefined
  /** Undefined for a key without a limit. */
  readonly ratePerMinute: number | undefined
}

type NewKey = KeyWish & {
  readonly id: string
  readonly key: string
  readonly tenant: string
  readonly budget: Budget | undefined
}

/** Shows a new key. The JSON omits fields whose options were not given. */
export function describeNewKey({ id, key, tenant, budget, ...wish }: NewKey): Answer {
  const { models, name, expiresAt, ratePerMinute } = wish
  const expires = expiresAt === undefined ? undefined : isoSeconds(expiresAt)
  const json = {
    ...{ id, key, tenant, models, name, expires_at: expires, rate_per_minute: ratePerMinute },
    ...(budget === undefined ? {} : { budget: budgetJson(budget, Date.now()) }),
  }
  const limits = [
    models === null ? 'all models' : models.join(', '),
    ...(expires === undefined ? [] : [`until ${expires}`]),
    ratePerMinute === undefined ? 'any number of requests' : `${ratePerMinute} requests per minute`,
    ...(budget === undefined ? [] : [`budget ${budgetText(budget, Date.now())}`]),
  ]
  const called = name === undefined ? '' : ` "${name}"`
  return {
    json,
    text: `key ${id}${called} for tenant ${tenant}, ${limits.join(', ')}\n\n${key}\n\nIt is not shown again.`,
  }
}

/** Keys as a list, without the keys themselves. @param budgets by their ids. */
export function describeKeys(listings: readonly ApiKeyListing[], budgets: ReadonlyMap<string, Budget>): Answer {
  const described = listings.map((listing) => {
    const budget = listing.budget === null ? undefined : budgets.get(listing.budget.id)
    const key = keyRow(listing, budget)
    const row = [
      key.id,
      key.tenant,
      key.name,
      key.state,
      key.expires_at,
      key.rate_per_minute === null ? null : `${key.rate_per_minute}/min`,
      ...(listing.budget === null ? [null, null] : budgetColumns(budget)),
      key.models?.join(',') ?? 'all',
      key.created_at,
    ]
    return { key, row }
  })
  const keys = described.map(({ key }) => key)
  const rows = described.map(({ row }) => row)
  const header = ['KEY', 'TENANT', 'NAME', 'STATE', 'EXPIRES', 'RATE', 'BUDGET', 'LEFT', 'MODELS', 'CREATED']
  return { json: { keys }, text: formatTable(header, rows) }
}

/** The limit of the budget that a key names, and what is left of it. */
function budgetColumns(budget: Budget | undefined): readonly [string, string | null] {
  if (budget === undefined) {
    return ['missing', null]
  }
  const { amount, period, left } = budgetAt(budget, Date.now())
  return [formatBudgetLimit({ amount, kind: period.kind }), formatCredits(left)]
}

/** A key as one object of a list. */
export function keyRow(key: ApiKeyListing, budget: Budget | undefined) {
  return {
    id: key.keyId,
    tenant: key.tenantId,
    state: stateOf(key, Date.now()),
    models: key.models,
    created_at: new Date(key.createdAt).toISOString(),
    name: key.name,
    expires_at: key.expiresAt === null ? null : isoSeconds(key.expiresAt),
    rate_per_minute: key.ratePerMinute,
    budget: budgetJson(budget ?? null, Date.now()),
  }
}

/** A time of a key as it is stored: truncated to whole seconds. */
export function isoSeconds(milliseconds: number): string {
  return new Date(Math.floor(milliseconds / 1000) * 1000).toISOString()
}
