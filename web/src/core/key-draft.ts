import type { BudgetDraft } from './budget-draft.ts'
import { isoTime } from './time.ts'

/** A key as a form holds it: what was typed. */
export type KeyDraft = {
  readonly name: string
  readonly models: readonly string[] | null
  readonly rate: string
  readonly budget: BudgetDraft
  /** `keep`, `never`, or seconds from now. */
  readonly expiry: string
}

/** What of an existing key a form begins with. */
export type KeyFacts = {
  readonly name: string | null
  readonly models: readonly string[] | null
  readonly rate_per_minute: number | null
  readonly budget: BudgetDraft | null
}

type Context = { readonly now: number; readonly budget: BudgetDraft | null }

/** The choices of an end; the values are seconds. */
export const EXPIRIES: readonly (readonly [value: string, title: string])[] = [
  ['never', 'never'],
  ['86400', 'in a day'],
  ['604800', 'in a week'],
  ['2592000', 'in 30 days'],
  ['7776000', 'in 90 days'],
  ['31536000', 'in a year'],
]

/** The default of a new key, as the commands have it; an admin of a tenant gives no more. */
export const RATE_DEFAULT = '300'

/** The form of a key before anything is typed. */
export function keyDraft(row: KeyFacts | null): KeyDraft {
  return {
    name: row?.name ?? '',
    models: row?.models ?? null,
    rate: row === null ? RATE_DEFAULT : String(row.rate_per_minute ?? ''),
    budget: { amount: row?.budget?.amount ?? '', period: row?.budget?.period ?? 'month' },
    expiry: row === null ? 'never' : 'keep',
  }
}

/** Whether the rate is empty or a whole number above zero. */
export function isRateReadable({ rate }: Pick<KeyDraft, 'rate'>): boolean {
  return /^([1-9]\d*)?$/.test(rate.trim())
}

/** The body of a request for a new key. @param now Unix seconds. */
export function newKeyBody(draft: KeyDraft, { tenant, now, budget }: Context & { readonly tenant: string }) {
  return {
    tenant,
    name: draft.name.trim() === '' ? null : draft.name.trim(),
    models: modelsOf(draft),
    rate_per_minute: rateOf(draft),
    budget,
    expires_at: endOf(draft, now) ?? null,
  }
}

/** The fields of an existing key that the form has changed; empty if there are none. */
export function keyChanges(draft: KeyDraft, row: KeyFacts | null, { now, budget }: Context) {
  const before = keyDraft(row)
  const end = endOf(draft, now)
  return {
    ...(draft.name.trim() === before.name ? {} : { name: draft.name.trim() === '' ? null : draft.name.trim() }),
    ...(JSON.stringify(draft.models) === JSON.stringify(before.models) ? {} : { models: modelsOf(draft) }),
    ...(draft.rate.trim() === before.rate ? {} : { rate_per_minute: rateOf(draft) }),
    ...(isSameBudget(draft.budget, before.budget) ? {} : { budget }),
    ...(end === undefined ? {} : { expires_at: end }),
  }
}

function modelsOf({ models }: KeyDraft): string[] | null {
  return models === null ? null : [...models]
}

function rateOf({ rate }: KeyDraft): number | null {
  return rate.trim() === '' ? null : Number(rate)
}

function endOf({ expiry }: KeyDraft, now: number): string | null | undefined {
  if (expiry === 'keep') {
    return undefined
  }
  return expiry === 'never' ? null : isoTime(now + Number(expiry))
}

function isSameBudget(left: BudgetDraft, right: BudgetDraft): boolean {
  return left.amount.trim() === right.amount && (left.amount.trim() === '' || left.period === right.period)
}
