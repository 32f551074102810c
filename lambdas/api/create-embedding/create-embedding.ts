import { allowedFields, keepAllowedFields, type PassedBody } from '#core/allowed-fields.ts'
import { type EmbeddingRequest, parseEmbeddingRequest } from '#core/api/embedding-request.ts'
import { hiddenFields } from '#core/catalogue/hidden-fields.ts'
import { replaceFields } from '#core/json/json-fields.ts'
import type { Microcredits } from '#core/money.ts'
import { embeddingChargeMax, settleEmbeddingCost } from '#core/pricing/relay-cost.ts'
import { embeddingTokensMax } from '#core/pricing/token-usage.ts'
import type { CallEnd, Charge, CheckedUsage, Priced } from '#core/pricing/usage.ts'
import { type EmbeddingReply, EmbeddingReplyReader, readPromptTokens } from '#core/relay/embedding-reply.ts'
import type { ReplyRules } from '#core/relay/reply-scan.ts'
import { boundInputTokens } from '#upstream/tokens/bound-input-tokens.ts'
import type { RelayContext } from '../../relay/relay-context.ts'
import type { RelayExchange } from '../../relay/relay-exchange.ts'
import {
  type CallTarget,
  type RelayProtocol,
  type RelayRequest,
  type ReplyReader,
  runRequest,
  type WholeReply,
} from '../../relay/run-request.ts'

/** Undefined where the upstream reports no plausible number. */
type EmbeddingUsage = { readonly promptTokens: number | undefined }

const embeddingProtocol: RelayProtocol<EmbeddingUsage> = {
  path: '/embeddings',
  fields: 'embeddings',
  read: ({ body, caller }, { catalogue }) => {
    const embedding = parseEmbeddingRequest(body.json, { catalogue, allowedModels: caller.models })
    return new Embedding(body.text, embedding, {
      publicModel: embedding.model.id,
      hidden: hiddenFields(catalogue.config),
    })
  },
}

/** POST /v1/embeddings */
export async function createEmbedding(exchange: RelayExchange, context: RelayContext): Promise<void> {
  await runRequest(exchange, context, embeddingProtocol)
}

class Embedding implements RelayRequest<EmbeddingUsage> {
  readonly calls = 1
  readonly list = 'data'
  readonly rules: ReplyRules
  readonly #text: string
  readonly #embedding: EmbeddingRequest
  readonly #inputs: number
  #estimate: Charge | undefined
  #reply: Extract<EmbeddingReply, { kind: 'reply' }> | undefined

  constructor(text: string, embedding: EmbeddingRequest, rules: ReplyRules) {
    const { inputs } = embedding
    this.#text = text
    this.#embedding = embedding
    this.#inputs = inputs.kind === 'texts' ? inputs.texts.length : inputs.counts.length
    this.rules = rules
  }

  get model() {
    return this.#embedding.model
  }

  get facts() {
    return { inputs: this.#inputs }
  }

  /** Numbers may have to become base64, which takes the whole reply. */
  get passesLarge(): boolean {
    return this.#embedding.encodingFormat === 'float'
  }

  async estimate() {
    const { inputs, model } = this.#embedding
    this.#estimate = embeddingChargeMax(model, await boundInputTokens(inputs, { model }))
    return this.#estimate
  }

  /** No single number would help. */
  advise(): string {
    return 'send fewer or shorter inputs'
  }

  body(_call: number, { channel, upstreamModel }: CallTarget): PassedBody {
    const { text, ignored } = keepAllowedFields(
      this.#text,
      allowedFields('embeddings', channel.pass_members.embeddings),
    )
    return { text: replaceFields(text, new Map([['model', JSON.stringify(upstreamModel)]])), ignored }
  }

  reader(): ReplyReader<EmbeddingUsage> {
    const { encodingFormat } = this.#embedding
    const reader = new EmbeddingReplyReader({ ...this.rules, inputs: this.#inputs, encodingFormat })
    return { push: (bytes) => reader.push(bytes), end: () => this.#keep(reader.end()) }
  }

  #keep(reply: EmbeddingReply): WholeReply<EmbeddingUsage> {
    if (reply.kind === 'unusable') {
      return reply
    }
    this.#reply = reply
    return { kind: 'reply', usage: { promptTokens: reply.promptTokens } }
  }

  usageOfLarge({ usage }: { readonly usage: unknown }): EmbeddingUsage {
    return { promptTokens: readPromptTokens(usage) }
  }

  check(usage: EmbeddingUsage): CheckedUsage<EmbeddingUsage> {
    const { promptTokens = 0 } = usage
    const most = embeddingTokensMax(this.model, this.#inputs)
    return promptTokens <= most
      ? { usage, doubts: [] }
      : { usage: { promptTokens: most }, doubts: [{ kind: 'above_bound', reported: { promptTokens } }] }
  }

  price([end]: readonly CallEnd<EmbeddingUsage>[]): Priced | undefined {
    const estimate = this.#estimate
    if (end === undefined || estimate === undefined) {
      return undefined
    }
    if (end.usage === undefined) {
      return { charge: estimate, isEstimated: true }
    }
    const { promptTokens } = end.usage
    const { charge, billedAtEstimate } = settleEmbeddingCost(this.model, { estimate, promptTokens })
    return { charge, isEstimated: billedAtEstimate, facts: { inputTokens: promptTokens } }
  }

  respond(_ends: readonly CallEnd<EmbeddingUsage>[], cost: Microcredits | undefined): readonly Uint8Array[] {
    return this.#reply?.relayed(cost) ?? []
  }
}
