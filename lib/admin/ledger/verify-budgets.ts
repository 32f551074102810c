import type { Tenant } from '#adapters/store/accounts/tenant-store.ts'
import type { StoredHold } from '#adapters/store/money/hold-item.ts'
import { readKeyBudgets } from '#adapters/store/money/key-budget.ts'
import type { Reservation } from '#adapters/store/money/reservation.ts'
import type { Table } from '#adapters/store/table/table.ts'
import type { Budget } from '#core/money/budget.ts'
import { formatCredits, type Microcredits } from '#core/money/money.ts'

type Held = {
  /** Open reservations of jobs. */
  readonly reservations: readonly Pick<Reservation, 'amount' | 'budget'>[]
  readonly holds: readonly Pick<StoredHold, 'budgets'>[]
  /** Ids of budgets that keys of the tenant name. */
  readonly named: ReadonlySet<string>
}

/** The sums in a tenant's budget, which conditions use, are those of its amounts. */
export function checkTenantBudget({ budget }: Pick<Tenant, 'budget'>): string[] {
  return budget === null ? [] : checkSums('its budget', budget)
}

/** The same for the budgets of its keys, each of which also holds what open jobs and requests hold in it. */
export async function checkKeyBudgets(table: Table, { reservations, holds, named }: Held): Promise<string[]> {
  const held = new Map([...named].map((id) => [id, 0n]))
  const add = (id: string, amount: bigint) => held.set(id, (held.get(id) ?? 0n) + amount)
  for (const { budget, amount } of reservations) {
    if (budget !== undefined) {
      add(budget.id, amount)
    }
  }
  for (const [id, amount] of holds.flatMap(({ budgets }) => Object.entries(budgets))) {
    add(id, amount)
  }
  const keys = [...held.keys()].map((id) => ({ budget: { id, kind: 'total' as const } }))
  const budgets = await readKeyBudgets(table, keys)
  return [...held].flatMap(([id, sum]) => {
    const budget = budgets.get(id)
    const name = `budget ${id}`
    return budget === undefined
      ? [`${name} is missing`]
      : [...checkSums(name, budget), ...equal(`${name} holds`, budget.held, 'open reservations in it', sum)]
  })
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
