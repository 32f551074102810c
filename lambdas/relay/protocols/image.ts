import { allowedFields } from '#core/allowed-fields.ts'
import { OPENAI_ERRORS } from '#core/api/error-form.ts'
import { imageRequestBody, parseImageRequest } from '#core/api/image-request.ts'
import { OPEN_BRACE, QUOTE } from '#core/json/json-scanner.ts'
import { imageBilling } from '#core/pricing/relay-cost.ts'
import { ELSEWHERE, ENTRY, isList, LIST, type ReplyRules, ReplyScan, TOP } from '#core/relay/reply-scan.ts'
import { ScannedReply, type WholeReply } from '#core/relay/whole-reply.ts'
import { defineRelayRoute } from '../run-request.ts'

/** POST /v1/images/generations. The usage of a reply is its images. */
export const image = defineRelayRoute<number>({
  operation: 'create-image',
  errors: OPENAI_ERRORS,
  read: (asked) => {
    const request = parseImageRequest(asked.json, asked)
    return {
      model: request.model,
      facts: { images: request.count },
      calls: 1,
      billing: imageBilling(request),
      write: (_, { channel, upstreamModel }) => {
        const allowed = allowedFields('images', channel.pass_members.images)
        return {
          path: '/images/generations',
          ...imageRequestBody(asked.text, { upstreamModel, image: request, allowed }),
        }
      },
      reader: (_, rules) => new ImageReplyReader(rules),
      large: { list: 'data', areRelayed: true },
    }
  },
})

/**
 * Reads an image reply piece by piece, without copying its megabytes of base64. An image response has no `model`
 * (docs/api.md, "Images"); if an upstream adds one at the top level, it is replaced by the public id. What is hidden is removed.
 */
export class ImageReplyReader extends ScannedReply<number, ImageScan> {
  constructor({ publicModel, hidden }: ReplyRules) {
    super(new ImageScan({ hidden, modelJson: JSON.stringify(publicModel), list: 'data' }))
  }

  end(): WholeReply<number> {
    const { images, hasOther, isValid, isObject, markLength } = this.scan
    if (!isValid || isObject !== true || markLength > 0) {
      return { kind: 'unusable', reason: 'the reply is not a JSON object' }
    }
    if (hasOther) {
      return { kind: 'unusable', reason: 'an entry has neither url nor b64_json' }
    }
    return images === 0
      ? { kind: 'unusable', reason: 'the reply has no image' }
      : { kind: 'reply', usage: images, relayed: (cost) => this.relayed(cost) }
  }
}

class ImageScan extends ReplyScan {
  images = 0
  /** Whether an entry is neither an image nor the report of an error, beside other images. */
  hasOther = false
  #isImage = false
  #isError = false

  protected override begin(place: number, name: string, code: number): number {
    if (place === TOP && name === 'data') {
      this.images = 0
    } else if (place === LIST && isList(this.listCode)) {
      this.#isImage = false
      this.#isError = false
      return code === OPEN_BRACE ? ENTRY : ELSEWHERE
    }
    return ELSEWHERE
  }

  protected override ended(place: number, name: string, isEmpty: boolean): void {
    if (place === ENTRY) {
      const { code, text } = this.scanner
      this.#isImage ||= (name === 'url' || name === 'b64_json') && code === QUOTE && !isEmpty
      this.#isError ||= name === 'error' && text !== 'null'
    } else if (place === LIST && isList(this.listCode)) {
      this.images += this.#isImage ? 1 : 0
      this.hasOther ||= !(this.#isImage || this.#isError)
    }
  }
}
