import { microcredits } from '#core/money.ts'
import { NO_USAGE, type UsageCounter, type UsageDimensions, type UsageSums } from '#core/pricing/usage.ts'

type Sums = Partial<Omit<UsageSums, 'cost'>> & { readonly cost?: bigint }

/** A counter of one free request, changed. */
export function usageCounter(dimensions: Partial<UsageDimensions>, { cost = 0n, ...sums }: Sums = {}): UsageCounter {
  return {
    day: '2026-11-22',
    keyId: 'key1',
    operation: 'create-chat-completion',
    model: 'chat-default',
    ...dimensions,
    ...NO_USAGE,
    requests: 1,
    ...sums,
    cost: microcredits(cost),
  }
}
