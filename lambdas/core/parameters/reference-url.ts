import * as z from 'zod'

/** Room for presigned urls; longer links are a mistake. */
const LINK_CHARACTERS_MAX = 8192

/** No whitespace and no control characters anywhere. */
const LINK = /^https?:\/\/[\x21-\x7e\u00a0-\uffff]+$/i
const DATA_IMAGE = /^data:image\/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]+={0,2}$/i

const LINK_SENTENCE = 'must be an http or https url'
const IMAGE_SENTENCE = 'must be an http or https url, or data:image/...;base64'

function isLink(text: string): boolean {
  return text.length <= LINK_CHARACTERS_MAX && LINK.test(text) && text.isWellFormed() && URL.canParse(text)
}

/** A reference that the upstream will fetch. The gateway never fetches it while creating a job. */
export const linkReference = z.string(LINK_SENTENCE).refine(isLink, { message: LINK_SENTENCE })

/** Whether a text is a link, or an image in the request itself. */
export function isImageReference(text: string): boolean {
  return isLink(text) || DATA_IMAGE.test(text)
}

/** An image reference: a link, or the image itself as `data:image/...;base64`. */
export const imageReference = z.string(IMAGE_SENTENCE).refine(isImageReference, { message: IMAGE_SENTENCE })
