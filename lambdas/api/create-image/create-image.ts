import { allowedFields, type PassedBody } from '#core/allowed-fields.ts'
import { type ImageRequest, imageRequestBody, parseImageRequest } from '#core/api/image-request.ts'
import { hiddenFields } from '#core/catalogue/hidden-fields.ts'
import { affordableCount, type Microcredits } from '#core/money.ts'
import { imageCharge, imageChargeMax } from '#core/pricing/relay-cost.ts'
import type { CallEnd, CheckedUsage, Priced } from '#core/pricing/usage.ts'
import { type ImageReply, ImageReplyReader } from '#core/relay/image-reply.ts'
import type { ReplyRules } from '#core/relay/reply-scan.ts'
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

/** Images in a reply. */
type ImageUsage = number

const imageProtocol: RelayProtocol<ImageUsage> = {
  path: '/images/generations',
  fields: 'images',
  read: ({ body, caller }, { catalogue }) => {
    const image = parseImageRequest(body.json, { catalogue, allowedModels: caller.models })
    return new Images(body.text, image, { publicModel: image.model.id, hidden: hiddenFields(catalogue.config) })
  },
}

/** POST /v1/images/generations */
export async function createImage(exchange: RelayExchange, context: RelayContext): Promise<void> {
  await runRequest(exchange, context, imageProtocol)
}

/** One image request, which is billed by the images in its reply. */
class Images implements RelayRequest<ImageUsage> {
  readonly calls = 1
  readonly list = 'data'
  readonly passesLarge = true
  readonly rules: ReplyRules
  readonly #text: string
  readonly #image: ImageRequest
  #reply: Extract<ImageReply, { kind: 'reply' }> | undefined

  constructor(text: string, image: ImageRequest, rules: ReplyRules) {
    this.#text = text
    this.#image = image
    this.rules = rules
  }

  get model() {
    return this.#image.model
  }

  get facts() {
    return { images: this.#image.count }
  }

  estimate() {
    return imageChargeMax(this.#image)
  }

  advise(available: Microcredits): string | undefined {
    const costOf = (count: number) => imageChargeMax({ ...this.#image, count }).amount
    const count = affordableCount(available, { most: this.#image.count, costOf })
    return count > 0 ? `set n to at most ${count}` : undefined
  }

  body(_call: number, { channel, upstreamModel }: CallTarget): PassedBody {
    const allowed = allowedFields('images', channel.pass_members.images)
    return imageRequestBody(this.#text, { upstreamModel, image: this.#image, allowed })
  }

  reader(): ReplyReader<ImageUsage> {
    const reader = new ImageReplyReader(this.rules)
    return { push: (bytes) => reader.push(bytes), end: () => this.#keep(reader.end()) }
  }

  #keep(reply: ImageReply): WholeReply<ImageUsage> {
    if (reply.kind === 'unusable') {
      return reply
    }
    this.#reply = reply
    return { kind: 'reply', usage: reply.images }
  }

  usageOfLarge({ entries }: { readonly entries: number }): ImageUsage {
    return entries
  }

  /** Images that nobody asked for are not billed. */
  check(images: ImageUsage): CheckedUsage<ImageUsage> {
    const { count } = this.#image
    return images <= count
      ? { usage: images, doubts: [] }
      : { usage: count, doubts: [{ kind: 'above_bound', reported: { images } }] }
  }

  price([end]: readonly CallEnd<ImageUsage>[]): Priced | undefined {
    if (end === undefined) {
      return undefined
    }
    return end.usage === undefined
      ? { charge: this.estimate(), isEstimated: true }
      : { charge: imageCharge(this.#image, end.usage), isEstimated: false }
  }

  respond(_ends: readonly CallEnd<ImageUsage>[], cost: Microcredits | undefined): readonly Uint8Array[] {
    return this.#reply?.relayed(cost) ?? []
  }
}
