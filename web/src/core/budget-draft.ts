/** The period of a budget, in UTC; `total` never starts again. */
type BudgetPeriod = 'day' | 'month' | 'total'

/** A budget as a form holds it; an empty amount means none. */
export type BudgetDraft = { readonly amount: string; readonly period: BudgetPeriod }
