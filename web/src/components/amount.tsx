import { creditWords, readableAmount, roundedAmount } from '../core/amount.ts'
import { Copyable } from './copy.tsx'

type AmountProps = {
  /** A decimal string of credits; null where no amount is known. */
  readonly value: string | null | undefined
  /** Whether a credit shows a plus, as in a statement. */
  readonly isSigned?: boolean
  /** Whether a glance is enough; the title and the copy stay exact. */
  readonly isRounded?: boolean
}

/** An amount of credits, with every digit it has unless it is rounded. The exact string is the title, and what is copied. */
export function Amount({ value, isSigned = false, isRounded = false }: AmountProps) {
  if (value === null || value === undefined) {
    return <Nothing />
  }
  return (
    <Copyable value={value} label="amount">
      <data class="amount" value={value} title={creditWords(value)}>
        {isRounded ? roundedAmount(value, { isSigned }) : readableAmount(value, { isSigned })}
      </data>
    </Copyable>
  )
}

/** Stands where a table has no value. */
export function Nothing() {
  return (
    <span class="nothing">
      <span aria-hidden="true">–</span>
      <span class="unseen">none</span>
    </span>
  )
}
