import * as z from 'zod'

/** Room for presigned urls; longer links are a mistake. */
const LINK_CHARACTERS_MAX = 8192

const PRINTABLE_ASCII_LINK = /^https?:\/\/[\x21-\x7e\u00a0-\uffff]+$/i
const DATA_IMAGE = /^data:image\/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]+={0,2}$/i

function isLink(text: string): boolean {
  return text.length <= LINK_CHARACTERS_MAX && PRINTABLE_ASCII_LINK.test(text) && URL.canParse(text)
}

/** A reference that the upstream will fetch. The gateway never fetches it while creating a job. */
export const linkReference = z.string().refine(isLink, { message: 'use an http or https url' })

/** Images may also stand in the request itself. */
export const imageReference = z
  .string()
  .refine((text) => (text.startsWith('data:') ? DATA_IMAGE.test(text) : isLink(text)), {
    message: 'use an http or https url, or data:image/...;base64',
  })
