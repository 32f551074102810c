import { type BudgetPeriod, type MoneyMove, movingPeriod, neededOf } from '#core/budgets.ts'
import type { TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

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
