import { type Budget, type BudgetPeriod, periodStart } from '#core/budgets.ts'
import { formatCredits, type Microcredits } from '#core/money.ts'
import { keyBudgetChangedAt, readKeyBudget } from '#store/budgets.ts'
import type { Reservation } from '#store/job-ledger/reservation.ts'
import type { StoredHold } from '#store/relay-ledger/hold.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import type { Tenant } from '#store/tenants/tenants.ts'
import { spentInPeriod } from '#store/usage.ts'

type KeyBudgets = {
  /** Open reservations of jobs. */
  readonly reservations: readonly Pick<Reservation, 'amount' | 'budget'>[]
  readonly holds: readonly Pick<StoredHold, 'budgets'>[]
  /** The keys of the tenant that name a budget, by the id of the budget. */
  readonly named: ReadonlyMap<string, ReadonlySet<string>>
}

/**
 * The sums in a tenant's budget, which conditions use, are those of its amounts, and it has spent what the usage counters of its period
 * say.
 */
export async function checkTenantBudget(
  table: Table,
  { id, budget }: Pick<Tenant, 'id' | 'budget'>,
): Promise<string[]> {
  if (budget === null) {
    return []
  }
  const counted = await spentInPeriod(table, id, { period: budget.period })
  return [...checkSums('its budget', budget), ...equal('its budget has spent', budget.spent, COUNTERS, counted)]
}

/** The same for the budgets of its keys, each of which also holds what open jobs and requests hold in it. */
export async function checkKeyBudgets(
  table: Table,
  tenantId: string,
  { reservations, holds, named }: KeyBudgets,
): Promise<string[]> {
  const held = new Map([...named.keys()].map((id) => [id, 0n]))
  const add = (id: string, amount: bigint) => held.set(id, (held.get(id) ?? 0n) + amount)
  for (const { budget, amount } of reservations) {
    if (budget !== undefined) {
      add(budget.id, amount)
    }
  }
  for (const [id, amount] of holds.flatMap(({ budgets }) => Object.entries(budgets))) {
    add(id, amount)
  }
  const broken: string[] = []
  for (const [id, sum] of held) {
    const item = await table.readItem(tableKeys.keyBudget(id))
    const name = `budget ${id}`
    if (item === undefined) {
      broken.push(`${name} is missing`)
      continue
    }
    const budget = readKeyBudget(item)
    broken.push(...checkSums(name, budget), ...equal(`${name} holds`, budget.held, 'open reservations in it', sum))
    const keyIds = named.get(id)
    if (keyIds !== undefined && isWholly(budget.period, keyBudgetChangedAt(item))) {
      const counted = await spentInPeriod(table, tenantId, { period: budget.period, keyIds })
      broken.push(...equal(`${name} has spent`, budget.spent, COUNTERS, counted))
    }
  }
  return broken
}

const COUNTERS = 'the sum of its usage counters'

/** Longer than any job or request is open. */
const OPEN_MILLISECONDS_MAX = 2 * 24 * 60 * 60 * 1000

/** Whether the period is free of requests that were opened before the budget existed, or before a key left it. */
function isWholly(period: BudgetPeriod, changedAt: number | undefined): boolean {
  return changedAt === undefined || periodStart(period) > changedAt + OPEN_MILLISECONDS_MAX
}

function checkSums(name: string, { amount, spent, held, left, free }: Budget): string[] {
  return [
    ...equal(`${name} has left`, left, 'amount - spent - held', amount - spent - held),
    ...equal(`${name} has free`, free, 'amount - held', amount - held),
  ]
}

function equal(leftName: string, left: bigint, rightName: string, right: bigint): string[] {
  const show = (amount: bigint) => formatCredits(amount as Microcredits)
  return left === right ? [] : [`${leftName} ${show(left)} and ${rightName} is ${show(right)}`]
}
