import { type BudgetPeriod, isOutdated, type MoneyMove, movingPeriod, movingTime, periodAt } from '#core/budgets.ts'
import { readKeyBudget, readTenantBudget } from '../accounts/budget-items.ts'
import type { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { NamedWrites } from '../table/table.ts'
import { moveKeyBudget } from './budget-writes.ts'
import { GROUP_WRITES, type Order, sumUp } from './group-transaction.ts'

/** What a process knows of the budgets of one tenant and of its keys: their periods, by the latest transactions. */
export class GroupBudgets {
  #tenant: BudgetPeriod | undefined
  readonly #keys = new Map<string, BudgetPeriod>()
  /** Budgets that are not in the table. */
  readonly #missing = new Set<string>()

  /** The period of the tenant's budget; undefined for a tenant without one. */
  get tenant(): BudgetPeriod | undefined {
    return this.#tenant
  }

  /** Whether the budget of this order is gone from the table. */
  isMissing({ reservation: { budget } }: Order): boolean {
    return budget !== undefined && this.#missing.has(budget.id)
  }

  /** When a group moves money, which is never before a known period of its budgets. */
  timeOf(orders: readonly Order[], nowMilliseconds: number): number {
    const ids = orders.flatMap(({ reservation }) => reservation.budget?.id ?? [])
    return movingTime([this.#tenant, ...ids.map((id) => this.#keys.get(id))], nowMilliseconds)
  }

  /** The writes that move the budgets of keys, one for each. */
  moveKeys(orders: readonly Order[], nowMilliseconds: number): NamedWrites {
    const writes = movesOf(orders).flatMap(({ id, kind, move }) =>
      this.#missing.has(id)
        ? []
        : [
            [
              GROUP_WRITES.budget(id),
              moveKeyBudget(id, {
                move,
                known: this.#keys.get(id) ?? periodAt(kind, nowMilliseconds),
                nowMilliseconds,
              }),
            ] as const,
          ],
    )
    return Object.fromEntries(writes)
  }

  /** Remembers what a written group has proved. */
  learn(orders: readonly Order[], nowMilliseconds: number): void {
    this.#tenant = this.#tenant && movingPeriod(this.#tenant, nowMilliseconds)
    for (const { id, kind } of movesOf(orders)) {
      const known = this.#keys.get(id) ?? periodAt(kind, nowMilliseconds)
      this.#keys.set(id, movingPeriod(known, nowMilliseconds))
    }
    this.#missing.clear()
  }

  /** A missing budget may be set again: it is missed anew by the next group. */
  forgetMissing(orders: readonly Order[]): void {
    for (const { kind, reservation } of orders) {
      if (kind === 'reserve' && reservation.budget !== undefined) {
        this.#missing.delete(reservation.budget.id)
      }
    }
  }

  /**
   * Takes over what the items of a refused group show.
   * @returns whether a budget was not as known. The group is then composed again before any order is judged.
   */
  correct(orders: readonly Order[], { failed, oldItems }: ConditionsNotMetError, nowMilliseconds: number): boolean {
    const balance = oldItems.get(GROUP_WRITES.balance)
    let isCorrected = false
    if (balance !== undefined) {
      const actual = readTenantBudget(balance)?.period
      isCorrected = isOutdated(this.#tenant, actual, nowMilliseconds)
      this.#tenant = actual
    }
    for (const { id, kind } of movesOf(orders).filter((each) => failed.has(GROUP_WRITES.budget(each.id)))) {
      const item = oldItems.get(GROUP_WRITES.budget(id))
      if (item === undefined) {
        this.#missing.add(id)
        isCorrected = true
      } else {
        const actual = readKeyBudget(item).period
        const known = this.#keys.get(id) ?? periodAt(kind, nowMilliseconds)
        isCorrected ||= isOutdated(known, actual, nowMilliseconds)
        this.#keys.set(id, actual)
      }
    }
    return isCorrected
  }
}

type KeyBudgetMove = { readonly id: string; readonly kind: BudgetPeriod['kind']; readonly move: MoneyMove }

/** What a group moves in each budget of a key. */
function movesOf(orders: readonly Order[]): KeyBudgetMove[] {
  const byBudget = Map.groupBy(
    orders.filter(({ reservation }) => reservation.budget !== undefined),
    ({ reservation }) => reservation.budget?.id ?? '',
  )
  return [...byBudget].map(([id, own]) => ({
    id,
    kind: own[0]?.reservation.budget?.kind ?? 'total',
    move: sumUp(own),
  }))
}
