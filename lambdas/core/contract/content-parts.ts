import * as z from 'zod'
import { isListedPart } from '../parameters/passing-fields.ts'

/** A part of a message. Only its `type` has been checked. */
export type ContentPart = Readonly<Record<string, unknown>> & { readonly type: string }

/** Most parts of one message; above what any client sends. */
export const PARTS_MAX = 2_048

/** The error for a `content` that is missing or has another type. */
export const CONTENT_MESSAGE = `\`content\` must be a string or an array of 1 to ${PARTS_MAX} content parts`

/**
 * Checked by hand and only up to the first fault: a body has room for fifty thousand parts, and a zod array would report a
 * fault for each of them. The JSON schema is in `relay-request-fields.ts`.
 */
export const contentSchema = z.unknown().transform((value, context): string | readonly ContentPart[] => {
  if (typeof value === 'string') {
    return value
  }
  if (!Array.isArray(value) || value.length === 0 || value.length > PARTS_MAX) {
    context.addIssue({ code: 'custom', message: CONTENT_MESSAGE, continue: false })
    return z.NEVER
  }
  const parts: ContentPart[] = []
  for (const [index, part] of value.entries()) {
    const fault = faultOf(part)
    if (fault !== undefined) {
      context.addIssue({ code: 'custom', path: [index, ...fault.path], message: fault.message, continue: false })
      return z.NEVER
    }
    parts.push(part)
  }
  return parts
})

/** The url of an image part: inside an object, or bare as some clients send it. */
export function imageUrlOf(part: Readonly<Record<string, unknown>>): string | undefined {
  const image = part.image_url
  const url = typeof image === 'object' && image !== null && 'url' in image ? image.url : image
  return typeof url === 'string' ? url : undefined
}

/** The detail that an image part asks for; null for none, which leaves it to the upstream as `auto` does. */
export function imageDetailOf({ image_url: image }: Readonly<Record<string, unknown>>): unknown {
  const detail = typeof image === 'object' && image !== null && 'detail' in image ? image.detail : null
  return detail === 'auto' ? null : (detail ?? null)
}

type Fault = { readonly path: readonly string[]; readonly message: string }

/** Parts of unlisted types are left to the upstream. */
function faultOf(part: unknown): Fault | undefined {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) {
    return { path: [], message: 'each content part must be an object with `type`' }
  }
  if (!('type' in part) || typeof part.type !== 'string') {
    return { path: ['type'], message: '`type` must be a string' }
  }
  if (part.type === 'text' && !('text' in part && typeof part.text === 'string')) {
    return { path: ['text'], message: '`text` must be a string in a part of type text' }
  }
  if (part.type === 'image_url' && imageUrlOf({ ...part }) === undefined) {
    return { path: ['image_url'], message: '`image_url` must be an object with `url` in a part of type image_url' }
  }
  if (isListedPart(part.type) && ({ ...part } as ContentPart)[part.type] == null) {
    return { path: [part.type], message: `\`${part.type}\` is required in a part of type ${part.type}` }
  }
  return undefined
}
