import { type AnswerPieces, applyEdits, type Edit } from './answer-pieces.ts'
import { readValue, UnexpectedJsonError, walkAnswer, walkElements, walkMembers } from './json-bytes.ts'

/** What becomes of an upstream's 2xx answer to an image request. */
export type ImageAnswer =
  | ({
      readonly kind: 'answer'
      /** Images in `data`; undefined when the answer has no such list. */
      readonly images: number | undefined
    } & AnswerPieces)
  /** Not JSON, or not an object: a failure of the upstream. `reason` is for the log and holds nothing of the answer. */
  | { readonly kind: 'unusable'; readonly reason: string }

const OPEN_BRACKET = 0x5b
const OPEN_BRACE = 0x7b

/**
 * Counts the images of an upstream's answer, which is relayed as it came, megabytes of base64 without a copy. The interface
 * has no model in it; where an upstream adds one at top level, the client sees the id that it knows.
 * @param bytes the whole answer.
 */
export function readImageAnswer(bytes: Uint8Array, { publicModel }: { readonly publicModel: string }): ImageAnswer {
  const edits: Edit[] = []
  let images: number | undefined
  try {
    walkAnswer(bytes, (name, start) => {
      if (name === 'data' && bytes[start] === OPEN_BRACKET) {
        const list = countImages(bytes, start)
        images = list.images
        return list.end
      }
      const { end } = readValue(bytes, start)
      if (name === 'model') {
        edits.push({ start, end, replacement: [new TextEncoder().encode(JSON.stringify(publicModel))] })
      }
      return end
    })
  } catch (error) {
    if (error instanceof UnexpectedJsonError) {
      return { kind: 'unusable', reason: error.message }
    }
    throw error
  }
  return { kind: 'answer', ...applyEdits(bytes, edits), images }
}

/** An element without url and without base64 is no image, whatever else it says. */
function countImages(bytes: Uint8Array, start: number): { readonly images: number; readonly end: number } {
  let images = 0
  const end = walkElements(bytes, start, (elementStart) => {
    if (bytes[elementStart] !== OPEN_BRACE) {
      return readValue(bytes, elementStart).end
    }
    let isImage = false
    const elementEnd = walkMembers(bytes, elementStart, (name, valueStart) => {
      const { value, end: valueEnd } = readValue(bytes, valueStart)
      isImage ||= (name === 'url' || name === 'b64_json') && typeof value === 'string' && value !== ''
      return valueEnd
    })
    images += isImage ? 1 : 0
    return elementEnd
  })
  return { images, end }
}
