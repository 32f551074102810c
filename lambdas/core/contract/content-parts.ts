import * as z from 'zod'
import { isListedPart } from '../parameters/passing-fields.ts'

/** A part of a message, of which no more is known than that it names its type. */
export type ContentPart = Readonly<Record<string, unknown>> & { readonly type: string }

/** More parts than any message of any client has. */
export const PARTS_MAX = 2_048

/** What is wrong with a content that is left out, or that is of another type. */
export const CONTENT_SENTENCE = 'content must be a text or a list of content parts'

/**
 * Read by hand, part by part up to the first fault: a body has room for fifty thousand parts, of each of which a schema
 * would make a fault of its own. Its JSON schema is in `relay-request-members.ts`.
 */
export const contentSchema = z.unknown().transform((value, context): string | readonly ContentPart[] => {
  if (typeof value === 'string') {
    return value
  }
  if (!Array.isArray(value) || value.length === 0 || value.length > PARTS_MAX) {
    context.addIssue({ code: 'custom', message: CONTENT_SENTENCE, continue: false })
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

/** The url of an image part: an object with a url, or the bare url that some clients write. */
export function imageUrlOf(part: Readonly<Record<string, unknown>>): string | undefined {
  const image = part.image_url
  const url = typeof image === 'object' && image !== null && 'url' in image ? image.url : image
  return typeof url === 'string' ? url : undefined
}

type Fault = { readonly path: readonly string[]; readonly message: string }

/** Kinds of parts that are not listed are the upstream's to judge. */
function faultOf(part: unknown): Fault | undefined {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) {
    return { path: [], message: 'a content part must be an object with a type' }
  }
  if (!('type' in part) || typeof part.type !== 'string') {
    return { path: ['type'], message: 'type must be a text' }
  }
  if (part.type === 'text' && !('text' in part && typeof part.text === 'string')) {
    return { path: ['text'], message: 'a part of type text needs a text' }
  }
  if (part.type === 'image_url' && imageUrlOf({ ...part }) === undefined) {
    return { path: ['image_url'], message: 'a part of type image_url needs image_url with a url' }
  }
  if (isListedPart(part.type) && ({ ...part } as ContentPart)[part.type] == null) {
    return { path: [part.type], message: `a part of type ${part.type} needs ${part.type}` }
  }
  return undefined
}
