import { type Budget, periodAt } from '#core/budgets.ts'
import { rule, sum } from './rule.ts'
import { amount, type Snapshot } from './snapshot.ts'
import type { Item } from './table-mirror.ts'

/** A budget of a key that was set while nothing moved begins with exactly what its keys have spent. */
export function checkLateStart(id: string, now: Snapshot): string[] {
  const budget = now.keyBudgets.get(id)?.budget
  const spent = budget === undefined ? 0n : spentBy(id, budget, now)
  return rule(
    budget?.spent === spent,
    `the budget ${id} was set late with ${budget?.spent}, and its keys spent ${spent}`,
  )
}

/** What the keys that share a budget have spent in its period. */
export function spentBy(id: string, { period }: Budget, now: Snapshot): bigint {
  const keys = sharing(id, now)
  const own = now.rows.filter(({ item }) => isSettledIn(period, item) && keys.includes(String(item.keyId)))
  return sum(own.map(({ item }) => amount(item.actual)))
}

/** The keys that count in a budget. */
export function sharing(id: string, { keys }: Snapshot): string[] {
  return [...keys].filter(([, { budgetId }]) => budgetId === id).map(([digest]) => digest)
}

/** The budget of a tenant has spent what the settlements of its period say. */
export function checkSpent(tenantId: string, { period, spent }: Budget, { rows }: Snapshot): string[] {
  const own = rows.filter((row) => row.tenantId === tenantId && isSettledIn(period, row.item))
  const settled = sum(own.map(({ item }) => amount(item.actual)))
  return rule(
    spent === settled,
    `the budget of ${tenantId} has spent ${spent} in ${period.id}, and settlements ${settled}`,
  )
}

function isSettledIn({ kind, id }: Budget['period'], { kind: of, at }: Item): boolean {
  return of === 'settle' && periodAt(kind, Number(at)).id === id
}
