import { type AccountView, isAffordable } from '../money/balance-view.ts'
import { formatCredits } from '../money/money.ts'
import type { VideoOffer } from './offer-video-job.ts'
import { priceLineView } from './price-line.ts'

/** The body of a quote: what a create would reserve, and whether it could at this moment. */
export function videoQuote({ request, line }: VideoOffer, account: AccountView, nowMilliseconds: number) {
  return {
    object: 'video.quote',
    model: request.model,
    estimate: formatCredits(line.amount),
    lines: [priceLineView(line)],
    available: formatCredits(account.balance.available),
    affordable: isAffordable(account, line.amount, nowMilliseconds),
  }
}
