import * as z from 'zod/mini'
import { type Budget, BudgetExceededError, budgetAt } from '#core/budgets.ts'
import { InsufficientQuotaError, InvalidApiKeyError, TooManyOpenJobsError } from '#core/errors.ts'
import { type Microcredits, microcredits } from '#core/money.ts'
import { readKeyBudget, readTenantBudget } from '../accounts/budget-items.ts'
import type { Item } from '../table/item-codec.ts'

const balanceItem = z.object({
  state: z.string(),
  available: z.union([z.number(), z.bigint()]),
  openJobs: z.number(),
  openJobsMax: z.optional(z.number()),
})

/** `createdAt`: Unix seconds. */
type Wanted = { readonly estimate: Microcredits; readonly createdAt: number }

/** Whether a balance refuses like a revoked key. */
export function isSuspended(balance: Item | undefined): boolean {
  return balance !== undefined && balanceItem.parse(balance).state !== 'active'
}

/** Why the budget of a key refused a job, by its item at that moment; undefined for a budget that does not exist. */
export function explainKeyBudget(wanted: Wanted, item: Item | undefined): Error {
  return item === undefined ? new BudgetExceededError() : exceeded('api key', wanted, readKeyBudget(item))
}

function exceeded(of: 'api key' | 'tenant', { estimate, createdAt }: Wanted, budget: Budget): Error {
  const { left, period } = budgetAt(budget, createdAt * 1000)
  return new BudgetExceededError({ of, needed: estimate, left, period })
}

/**
 * Why a balance refused a job, by the balance at that moment; undefined for a tenant that does not exist.
 * A suspended tenant is refused like its keys; its budget is judged before funds, and funds before the count of open jobs.
 */
export function explainBalance(wanted: Wanted, balance: Item | undefined): Error {
  if (balance === undefined) {
    return new InsufficientQuotaError()
  }
  const { state, available } = balanceItem.parse(balance)
  if (state !== 'active') {
    return new InvalidApiKeyError()
  }
  const budget = readTenantBudget(balance)
  if (budget !== undefined && !hasRoom(wanted, budget)) {
    return exceeded('tenant', wanted, budget)
  }
  if (available >= wanted.estimate) {
    return new TooManyOpenJobsError()
  }
  return new InsufficientQuotaError('video generation', {
    needed: wanted.estimate,
    available: microcredits(available),
  })
}

function hasRoom({ estimate, createdAt }: Wanted, budget: Budget): boolean {
  return estimate === 0n || budgetAt(budget, createdAt * 1000).left >= estimate
}

type Read = {
  readonly balance: Item | undefined
  /** The item of the key's budget; undefined for a key without one. */
  readonly keyBudget: Item | undefined
}

/** Why this balance, or the budget of the key, would refuse a reservation now; undefined if neither would. */
export function foreseeRefusal(wanted: Wanted, { balance, keyBudget }: Read): Error | undefined {
  const parsed = balanceItem.safeParse(balance)
  if (!parsed.success || balance === undefined || isSuspended(balance)) {
    return explainBalance(wanted, balance)
  }
  if (keyBudget !== undefined && !hasRoom(wanted, readKeyBudget(keyBudget))) {
    return explainKeyBudget(wanted, keyBudget)
  }
  const { available, openJobs, openJobsMax } = parsed.data
  const budget = readTenantBudget(balance)
  const isOneMoreAllowed = openJobsMax === undefined || openJobs < openJobsMax
  const passes = available >= wanted.estimate && isOneMoreAllowed && (budget === undefined || hasRoom(wanted, budget))
  return passes ? undefined : explainBalance(wanted, balance)
}
