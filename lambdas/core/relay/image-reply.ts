import { OPEN_BRACKET } from '../json/json-marks.ts'
import type { Microcredits } from '../money.ts'
import { readValue, UnexpectedJsonError, walkElements, walkMembers, walkReply } from './json-bytes.ts'
import type { ReplyRules } from './reply-members.ts'
import { applyEdits, type ReplyPieces } from './reply-pieces.ts'
import { TopLevelEdits } from './top-level-edits.ts'

/** How an upstream's 2xx reply to an image request is used. */
export type ImageReply =
  | {
      readonly kind: 'answer'
      /** Images in `data`, at least one. */
      readonly images: number
      /** What the client gets. @param cost shown in a usage; undefined for none. */
      readonly relayed: (cost: Microcredits | undefined) => ReplyPieces
    }
  /** No image, or an entry that is not one: a failure of the upstream. `reason` is for the log and holds nothing of the reply. */
  | { readonly kind: 'unusable'; readonly reason: string }

/**
 * Counts the images of an upstream's reply without copying its megabytes of base64. An image response has no `model`
 * (docs/api.md, "Images"); if an upstream adds one at the top level, it is replaced by the public id. What is hidden is removed.
 * @param bytes the whole reply.
 */
export function readImageReply(bytes: Uint8Array, rules: ReplyRules): ImageReply {
  const topLevel = new TopLevelEdits(bytes, rules)
  let images = 0
  try {
    walkReply(bytes, (name, start) => {
      if (name === 'data') {
        const list = countImages(bytes, start)
        images = list.images
        topLevel.field(name, start, list.end)
        return list.end
      }
      const { end } = readValue(bytes, start)
      topLevel.field(name, start, end)
      return end
    })
  } catch (error) {
    if (error instanceof UnexpectedJsonError) {
      return { kind: 'unusable', reason: error.message }
    }
    throw error
  }
  return images === 0
    ? { kind: 'unusable', reason: 'the answer has no image' }
    : { kind: 'answer', images, relayed: (cost) => applyEdits(bytes, topLevel.edits(cost)) }
}

/**
 * An entry without url and without base64 is not an image. It may report an error instead, beside other images.
 * @throws UnexpectedJsonError for an entry with neither.
 */
function countImages(bytes: Uint8Array, start: number): { readonly images: number; readonly end: number } {
  if (bytes[start] !== OPEN_BRACKET) {
    return { images: 0, end: readValue(bytes, start).end }
  }
  let images = 0
  const end = walkElements(bytes, start, (elementStart) => {
    let isImage = false
    let isError = false
    const elementEnd = walkMembers(bytes, elementStart, (name, valueStart) => {
      const { value, end: valueEnd } = readValue(bytes, valueStart)
      isImage ||= (name === 'url' || name === 'b64_json') && typeof value === 'string' && value !== ''
      isError ||= name === 'error' && value !== null
      return valueEnd
    })
    if (!isImage && !isError) {
      throw new UnexpectedJsonError('an entry has neither url nor b64_json')
    }
    images += isImage ? 1 : 0
    return elementEnd
  })
  return { images, end }
}
