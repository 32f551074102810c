import type { ChatRequest } from '#core/contract/chat-request.ts'
import type { Microcredits } from '#core/money/money.ts'
import { brokenStreamCharge, chatCharge } from '#core/quota/chat-cost.ts'
import type { Charge } from '#core/quota/counted-usage.ts'
import type { TokenCounts } from '#core/quota/token-counts.ts'
import { believedUsage, readTokenUsage } from '#core/quota/token-usage.ts'
import { boundTokenCounts, chatUsageMax } from '#core/quota/usage-bounds.ts'
import { type Bill, shownCost } from '../../relay/bill-request.ts'
import type { LargeReply } from '../../relay/large-reply.ts'
import { tokensOf } from '../../relay/measure-request.ts'
import type { RelayExchange } from '../../relay/relay-exchange.ts'
import { usageWithinBounds } from '../../relay/report-usage.ts'
import type { UpstreamReply } from '../../relay/upstream-reply.ts'

type Billed = {
  readonly exchange: Pick<RelayExchange, 'requestId' | 'note'>
  readonly chat: ChatRequest
  readonly bill: Bill
}

type Channel = Pick<UpstreamReply, 'channel'>

/** What a chat costs, by how its reply ended. */
export class ChatBill {
  readonly #exchange: Billed['exchange']
  readonly #chat: ChatRequest
  readonly #bill: Bill

  constructor({ exchange, chat, bill }: Billed) {
    this.#exchange = exchange
    this.#chat = chat
    this.#bill = bill
  }

  /** The cost of a usage as {@link settleByUsage} bills it, for the client; undefined for a model without a price. */
  costOf(usage: TokenCounts): Microcredits | undefined {
    const { model, choices, imageTokensMax } = this.#chat
    const bounded = boundTokenCounts(usage, chatUsageMax(model, choices, imageTokensMax))
    return shownCost(this.#bill, chatCharge(model, bounded))
  }

  /** The cost of a whole reply, for the client: without usage, the estimate. */
  costOfWhole(usage: TokenCounts | undefined): Microcredits | undefined {
    return usage === undefined ? shownCost(this.#bill, this.#bill.estimate) : this.costOf(usage)
  }

  /** As {@link costOf}, for the unchecked usage of a large reply. Nothing is billed while the reply has no entries. */
  costOfLarge({ usage, entries }: Pick<LargeReply, 'usage' | 'entries'>): Microcredits | undefined {
    const counts = believedUsage(readTokenUsage(usage), true)
    return counts === undefined || entries === 0 ? undefined : this.costOf(counts)
  }

  /** Bills what the upstream reports, within the bounds of the model. */
  settleByUsage(reported: TokenCounts, { channel }: Channel): void {
    const { model, choices, imageTokensMax: imageTokens } = this.#chat
    const call = { requestId: this.#exchange.requestId, channelId: channel.id, model, choices, imageTokens }
    const usage = usageWithinBounds(reported, call)
    this.#exchange.note(tokensOf(usage))
    this.#bill.settle(chatCharge(model, usage))
  }

  /** Bills the usage of a whole reply, or the estimate. */
  settleWhole(usage: TokenCounts | undefined, reply: Channel): void {
    if (usage === undefined) {
      this.#bill.settleByEstimate(this.#bill.estimate)
    } else {
      this.settleByUsage(usage, reply)
    }
  }

  /** Bills a reply that was too large to be held: by its usage, or without one as a stream that ended the same way. */
  settleLarge(large: LargeReply, reply: Channel): void {
    const usage = believedUsage(readTokenUsage(large.usage), large.entries > 0)
    if (usage === undefined && large.end === 'broken') {
      this.settleBroken(large.bytes)
    } else {
      this.settleWhole(usage, reply)
    }
  }

  /** Bills the prompt and what was relayed of a reply that ended without a usage. */
  settleBroken(relayedTextBytes: number): void {
    const { model, promptTokensEstimate: promptTokens } = this.#chat
    const { estimate } = this.#bill
    const charge: Charge = brokenStreamCharge(model, { promptTokens, relayedTextBytes, estimate })
    this.#bill.settleByEstimate(charge)
  }
}
