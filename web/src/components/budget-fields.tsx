import { parseAmount } from '../core/amount.ts'
import type { BudgetDraft } from '../core/budget-draft.ts'
import { SelectField } from './select-field.tsx'
import { TextField } from './text-field.tsx'

const PERIODS = [
  ['day', 'a day (UTC)'],
  ['month', 'a month (UTC)'],
  ['total', 'in all'],
] as const

/** An amount and the period in which it may be spent. */
export function BudgetFields(props: { readonly value: BudgetDraft; readonly onChange: (value: BudgetDraft) => void }) {
  const { value, onChange } = props
  return (
    <div class="form-row">
      <TextField
        label="Budget"
        hint="Credits; empty for none."
        isNumeric
        value={value.amount}
        error={isBudgetReadable(value) ? undefined : 'Use digits, such as 25 or 0.5'}
        onChange={(amount) => onChange({ ...value, amount })}
      />
      <SelectField
        label="Per"
        value={value.period}
        options={PERIODS}
        onChange={(period) => onChange({ ...value, period })}
      />
    </div>
  )
}

/** Whether the amount is empty or an amount. */
export function isBudgetReadable({ amount }: BudgetDraft): boolean {
  return amount.trim() === '' || (parseAmount(amount) ?? -1n) >= 0n
}

/** The budget of a request body. */
export function budgetBody({ amount, period }: BudgetDraft): BudgetDraft | null {
  return amount.trim() === '' ? null : { amount: amount.trim(), period }
}

/** The draft of a budget that exists. */
export function budgetDraft(budget: BudgetDraft | null): BudgetDraft {
  return budget === null ? { amount: '', period: 'month' } : { amount: budget.amount, period: budget.period }
}
