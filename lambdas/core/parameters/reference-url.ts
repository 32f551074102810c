import * as z from 'zod/mini'

/** Longer than any presigned url. */
const LINK_CHARACTERS_MAX = 8192

/** No whitespace and no control characters anywhere. */
const LINK = /^https?:\/\/[\x21-\x7e\u00a0-\uffff]+$/i
const DATA_IMAGE = /^data:image\/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]+={0,2}$/i

const LINK_RULE = `must be an http or https url of at most ${LINK_CHARACTERS_MAX} characters`
const LINK_MESSAGE = `each reference ${LINK_RULE}`
const IMAGE_MESSAGE = `each reference image ${LINK_RULE}, or data:image/...;base64`

function isLink(text: string): boolean {
  return text.length <= LINK_CHARACTERS_MAX && LINK.test(text) && text.isWellFormed() && URL.canParse(text)
}

/** A reference that the upstream fetches; the gateway does not fetch it when it creates a job. */
export const linkReference = z.string(LINK_MESSAGE).check(z.refine(isLink, { message: LINK_MESSAGE }))

/** Whether a string is a link, or an image as `data:image/...;base64`. */
export function isImageReference(text: string): boolean {
  return isLink(text) || DATA_IMAGE.test(text)
}

/** A link to an image, or the image itself as `data:image/...;base64`. */
export const imageReference = z.string(IMAGE_MESSAGE).check(z.refine(isImageReference, { message: IMAGE_MESSAGE }))
