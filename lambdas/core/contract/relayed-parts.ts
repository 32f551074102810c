import type { RequestIssue } from '../errors.ts'
import { isListedPart } from '../parameters/passing-fields.ts'
import type { ContentPart } from './content-parts.ts'

type Messages = readonly { readonly content?: string | readonly ContentPart[] | null | undefined }[]

/** The content parts of all messages. */
export function partsOf(messages: Messages): readonly ContentPart[] {
  return messages.flatMap(({ content }) => (typeof content === 'object' ? (content ?? []) : []))
}

/**
 * The error for the first part of which only its type would reach an upstream. An upstream would ignore such a part or
 * report an obscure error.
 * @param added fields of content parts that the channels of the model add to the list.
 */
export function hollowPartIssue(messages: Messages, added: ReadonlySet<string>): RequestIssue | undefined {
  for (const [at, { content }] of messages.entries()) {
    const parts = typeof content === 'object' ? (content ?? []) : []
    const index = parts.findIndex((part) => !(isListedPart(part.type) || hasField(part, added)))
    const part = parts[index]
    if (part !== undefined) {
      return { path: `messages.${at}.content.${index}`, message: hollowPartMessage(part.type) }
    }
  }
  return undefined
}

function hasField(part: ContentPart, names: ReadonlySet<string>): boolean {
  return names.size > 0 && Object.keys(part).some((name) => names.has(name))
}

/** A type that a configuration can name. Anything else the client may have made up, and is not repeated in an error. */
const TYPE_NAME = /^[A-Za-z][A-Za-z0-9_]{0,31}$/

function hollowPartMessage(type: string): string {
  const [named, field] = TYPE_NAME.test(type) ? [` of type ${type}`, type] : ['', '<its field>']
  return `a part${named} is not supported: use text, image_url or file, or ask the operator to add messages.content.${field} to pass_members of a channel`
}

/** Marks for a cache; they add nothing to the prompt. */
const CACHE_MARKS: ReadonlySet<string> = new Set(['cache_control', 'prompt_cache_breakpoint'])

/** Whether a part may refer to its content, such as a file or a video, so that its own length does not bound its tokens. */
export function mayFillContext(part: ContentPart, added: ReadonlySet<string>): boolean {
  const hasOwnBound = part.type === 'text' || part.type === 'image_url'
  return !hasOwnBound || Object.keys(part).some((name) => added.has(name) && !CACHE_MARKS.has(name))
}
