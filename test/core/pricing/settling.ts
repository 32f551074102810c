import { expect } from '@jest/globals'
import type { VideoPriceTier } from '#core/catalogue/price-rows.ts'
import { formatCredits, parseCredits } from '#core/money.ts'
import type { PriceSnapshot } from '#core/pricing/video-cost.ts'
import { settleVideoCost } from '#core/pricing/video-settlement.ts'
import type { VideoResult } from '#core/providers/video-provider.ts'

/** Credits that are locked where a test does not say otherwise. */
export const ESTIMATE = '9.99'

export function snapshot(
  billing: PriceSnapshot['billing'],
  ...prices: Partial<PriceSnapshot['prices'][number]>[]
): PriceSnapshot {
  const rows = prices.map(
    (row) => ({ resolution: 'any', audio: 'any', video_input: 'any', price: '1', ...row }) as const,
  )
  return { billing, prices: rows, quantityMax: 1_000_000_000 }
}

type Case = {
  snapshot: PriceSnapshot
  estimate?: string
  requested?: Partial<VideoPriceTier>
  result?: Partial<VideoResult>
  durationSeconds?: string | undefined
}

/** The amounts and the flags of a settlement, whose line has its amount. */
export function settle(each: Case) {
  const { amount, line, overdraft, usage: _, ...flags } = settled(each)
  expect(line?.amount).toBe(flags.billedAtEstimate ? undefined : amount)
  return { amount: formatCredits(amount), overdraft: formatCredits(overdraft), ...flags }
}

export function settled({ snapshot: prices, estimate = ESTIMATE, requested, result, durationSeconds }: Case) {
  return settleVideoCost({
    estimate: parseCredits(estimate),
    snapshot: prices,
    requested: { resolution: '720P', audio: true, videoInput: false, ...requested },
    result: {
      videoUrl: undefined,
      completionTokens: undefined,
      billableSeconds: undefined,
      outputSeconds: undefined,
      resolution: undefined,
      audio: undefined,
      ...result,
    },
    durationSeconds,
  })
}
