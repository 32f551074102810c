import { type BudgetPeriod, isOutdated, type PeriodKind, periodAt } from '#core/budgets.ts'
import { ServiceUnavailableError } from '#core/errors.ts'
import { RecentValues } from '../../recent-values.ts'
import type { BudgetOfKey } from '../accounts/api-key-record.ts'
import { readKeyBudget, readTenantBudget } from '../accounts/budget-items.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { NamedWrites, Table } from '../table/table.ts'

/** The budgets that a transaction moves, as its process knows them. Names of the writes: `keyBudget` and `balance`. */
export type KnownBudgets = {
  /** The budget of the key; undefined if no key budget moves. */
  readonly key: { readonly id: string; readonly period: BudgetPeriod } | undefined
  /** The period of the tenant's budget; undefined for a tenant without one. */
  readonly tenant: BudgetPeriod | undefined
}

/** Guesses that budgets are in the period of this time, by the kinds that were noted of them. */
export function guessBudgets(
  { key, tenantKind }: { readonly key: BudgetOfKey | undefined; readonly tenantKind: PeriodKind | undefined },
  nowMilliseconds: number,
): KnownBudgets {
  return {
    key: key && { id: key.id, period: periodAt(key.kind, nowMilliseconds) },
    tenant: tenantKind && periodAt(tenantKind, nowMilliseconds),
  }
}

/** Tenants whose budgets are remembered. */
const TENANTS_MAX = 5_000

/** What an instance remembers of the budgets of tenants, so that its next reservation needs no correction. */
export class TenantBudgets {
  readonly #kinds = new RecentValues<PeriodKind>(TENANTS_MAX)

  /** The kind of period that the budget of this tenant had last; undefined for a tenant without one, or an unknown tenant. */
  kindOf(tenantId: string): PeriodKind | undefined {
    return this.#kinds.get(tenantId)
  }

  /** Remembers what a transaction has proved. */
  learn(tenantId: string, { tenant }: KnownBudgets): void {
    if (tenant === undefined) {
      this.#kinds.delete(tenantId)
    } else {
      this.#kinds.set(tenantId, tenant.kind)
    }
  }
}

/** Enough for two budgets that each begin a period and are changed by an operator while a transaction is tried. */
const CORRECTIONS_MAX = 4

type Moving = {
  readonly known: KnownBudgets
  readonly nowMilliseconds: number
  readonly compose: (known: KnownBudgets) => NamedWrites
  /** Whether the refusal of this write stands, whatever the budgets are. */
  readonly isFinal: (name: string) => boolean
  /** Whether a key budget that is gone from the table refuses the transaction. Otherwise the transaction does without it. */
  readonly needsKeyBudget: boolean
}

/**
 * Sends a transaction that moves budgets, and composes it again while its refusal shows that a budget has moved on.
 * @returns the budgets as the transaction has proved them.
 * @throws ConditionsNotMetError, composed with current knowledge of the budgets. @throws ServiceUnavailableError when they kept changing.
 */
export async function transactWithBudgets(
  table: Table,
  { known, compose, isFinal, ...moving }: Moving,
): Promise<KnownBudgets> {
  let current = known
  let refusal: unknown
  for (let correction = 0; correction <= CORRECTIONS_MAX; correction += 1) {
    try {
      await table.transact(compose(current))
      return current
    } catch (error) {
      if (!(error instanceof ConditionsNotMetError) || [...error.failed].some(isFinal)) {
        throw error
      }
      const corrected = correct(current, error, moving)
      if (corrected === undefined) {
        throw error
      }
      current = corrected
      refusal = error
    }
  }
  throw new ServiceUnavailableError({ cause: refusal })
}

/** The budgets as the items that refused a transaction show them; undefined if they are as known. */
function correct(
  known: KnownBudgets,
  { failed, oldItems }: ConditionsNotMetError,
  { nowMilliseconds, needsKeyBudget }: Pick<Moving, 'nowMilliseconds' | 'needsKeyBudget'>,
): KnownBudgets | undefined {
  const [budget, balance] = [oldItems.get('keyBudget'), oldItems.get('balance')]
  if (failed.has('keyBudget') && budget === undefined) {
    return needsKeyBudget ? undefined : { ...known, key: undefined }
  }
  const keyPeriod = budget === undefined ? known.key?.period : readKeyBudget(budget).period
  const tenant = balance === undefined ? known.tenant : readTenantBudget(balance)?.period
  const isSame =
    !isOutdated(known.key?.period, keyPeriod, nowMilliseconds) && !isOutdated(known.tenant, tenant, nowMilliseconds)
  return isSame ? undefined : { tenant, key: known.key && keyPeriod && { id: known.key.id, period: keyPeriod } }
}
