import {
  type BudgetPeriod,
  isOutdated,
  type MoneyMove,
  movingPeriod,
  neededOf,
  type PeriodKind,
  periodAt,
} from '#core/budgets.ts'
import { ServiceUnavailableError } from '#core/errors.ts'
import { RecentValues } from '../platform/cache.ts'
import { readKeyBudget, readTenantBudget } from './budgets.ts'
import type { BudgetOfKey } from './callers.ts'
import { ConditionsNotMetError, type NamedWrites, type Table, type TableWrite } from './table/table.ts'
import { tableKeys } from './table/table-keys.ts'

/** What a transaction does to a budget. */
export type BudgetMove = {
  readonly move: MoneyMove
  /** The period that the budget was last known to be in. The transaction is refused if that is no longer so. */
  readonly known: BudgetPeriod
  readonly nowMilliseconds: number
}

/** The parts of an update that move a budget. */
type BudgetUpdate = {
  /** Assignments, without `SET`. */
  readonly set: string
  readonly condition: string
  readonly values: Readonly<Record<string, unknown>>
}

/** Attributes of a budget in its item. Several are reserved words of expressions. */
const KEY_BUDGET_NAMES = {
  period: '#period',
  periodId: '#periodId',
  spent: '#spent',
  held: '#held',
  left: '#left',
  free: '#free',
} as const

/** Attributes of a tenant's budget on its balance, whose `held` is the budget's too. */
const BALANCE_NAMES = {
  period: 'budgetPeriod',
  periodId: 'budgetPeriodId',
  spent: 'budgetSpent',
  held: undefined,
  left: 'budgetLeft',
  free: 'budgetFree',
} as const

/**
 * The write that moves the budget of a key. Refused, with the item, if money is locked that the period has not left, or if the
 * period is not the known one (`isOutdated` in core/money/budget.ts tells the two apart).
 */
export function moveKeyBudget(budgetId: string, change: BudgetMove): TableWrite {
  const { set, condition, values } = budgetUpdate(KEY_BUDGET_NAMES, change)
  const used = Object.entries(KEY_BUDGET_NAMES).filter(([, name]) => usesName(`${set} ${condition}`, name))
  return {
    Update: {
      Key: tableKeys.keyBudget(budgetId),
      UpdateExpression: `SET ${set}`,
      ConditionExpression: condition,
      ExpressionAttributeNames: Object.fromEntries(used.map(([attribute, name]) => [name, attribute])),
      ExpressionAttributeValues: values,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  }
}

/** The table refuses names that no expression uses. */
function usesName(expressions: string, name: string): boolean {
  return new RegExp(`${name}\\b`).test(expressions)
}

/**
 * The parts of a balance's update that move the budget of its tenant. `set` follows other assignments, and is empty without a
 * budget; the condition always stands, so that a budget that was set or cleared meanwhile refuses the transaction.
 * @param change.known undefined for a tenant without a budget.
 */
export function moveTenantBudget({
  known,
  ...change
}: Omit<BudgetMove, 'known'> & { readonly known: BudgetPeriod | undefined }): BudgetUpdate {
  if (known === undefined) {
    return { set: '', condition: 'attribute_not_exists(budgetPeriodId)', values: {} }
  }
  const { set, ...rest } = budgetUpdate(BALANCE_NAMES, { known, ...change })
  return { set: `, ${set}`, ...rest }
}

type Names = typeof KEY_BUDGET_NAMES | typeof BALANCE_NAMES

function budgetUpdate(names: Names, { move, known, nowMilliseconds }: BudgetMove): BudgetUpdate {
  const { locked, closed, billed } = move
  const period = movingPeriod(known, nowMilliseconds)
  const isNew = period.id !== known.id
  const room = isNew ? names.free : names.left
  const isInPeriod = isNew
    ? `${names.period} = :budgetKind AND ${names.periodId} < :budgetPeriodId`
    : `${names.periodId} = :budgetPeriodId`
  const assignments = [
    // The right-hand sides are the values before the update.
    `${names.left} = ${room} + :budgetLeft`,
    `${names.free} = ${names.free} + :budgetFree`,
    `${names.spent} = ${isNew ? '' : `${names.spent} + `}:budgetSpent`,
    ...(names.held === undefined ? [] : [`${names.held} = ${names.held} + :budgetHeld`]),
    ...(isNew ? [`${names.periodId} = :budgetPeriodId`] : []),
  ]
  return {
    set: assignments.join(', '),
    condition: locked > 0n ? `${isInPeriod} AND ${room} >= :budgetNeeded` : isInPeriod,
    values: {
      ':budgetLeft': -neededOf(move),
      ':budgetFree': closed - locked,
      ':budgetSpent': billed,
      ':budgetPeriodId': period.id,
      ...(names.held === undefined ? {} : { ':budgetHeld': locked - closed }),
      ...(isNew ? { ':budgetKind': period.kind } : {}),
      ...(locked > 0n ? { ':budgetNeeded': neededOf(move) } : {}),
    },
  }
}

type Returned = { readonly tenantId: string; readonly amount: bigint; readonly nowMilliseconds: number }

/**
 * The write that moves a released amount from `held` to `available`, in the tenant's balance and in its budget as they are now. Refused
 * if the budget begins another period, or is set or cleared, before it is written.
 */
export async function giveBack(table: Table, { tenantId, amount, nowMilliseconds }: Returned): Promise<TableWrite> {
  const balance = await table.readItem(tableKeys.balance(tenantId))
  const known = balance === undefined ? undefined : readTenantBudget(balance)?.period
  const budget = moveTenantBudget({ move: releaseOf(amount), known, nowMilliseconds })
  return {
    Update: {
      Key: tableKeys.balance(tenantId),
      UpdateExpression: `SET available = available + :amount, held = held - :amount${budget.set}`,
      ConditionExpression: ['held >= :amount', budget.condition].join(' AND '),
      ExpressionAttributeValues: { ...budget.values, ':amount': amount },
    },
  }
}

/** The same for the budget of a key; undefined for a budget that is gone from the table. */
export async function giveBackToKey(
  table: Table,
  budgetId: string,
  { amount, nowMilliseconds }: Omit<Returned, 'tenantId'>,
): Promise<TableWrite | undefined> {
  const item = await table.readItem(tableKeys.keyBudget(budgetId))
  return item === undefined
    ? undefined
    : moveKeyBudget(budgetId, { move: releaseOf(amount), known: readKeyBudget(item).period, nowMilliseconds })
}

function releaseOf(closed: bigint): MoneyMove {
  return { locked: 0n, closed, billed: 0n }
}

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
