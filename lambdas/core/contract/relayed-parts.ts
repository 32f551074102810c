import type { RequestIssue } from '../errors.ts'
import { isListedPart } from '../parameters/passing-fields.ts'
import type { ContentPart } from './content-parts.ts'

type Messages = readonly { readonly content?: string | readonly ContentPart[] | null | undefined }[]

/** All parts of a conversation. */
export function partsOf(messages: Messages): readonly ContentPart[] {
  return messages.flatMap(({ content }) => (typeof content === 'object' ? (content ?? []) : []))
}

/**
 * The first part of which no upstream would get more than its type. It is refused: an upstream would answer a part that is
 * empty with an error that nobody understands, or as if it had not been there.
 * @param added fields of parts that some channel of the model lets pass.
 */
export function hollowPartIssue(messages: Messages, added: ReadonlySet<string>): RequestIssue | undefined {
  for (const [at, { content }] of messages.entries()) {
    const parts = typeof content === 'object' ? (content ?? []) : []
    const index = parts.findIndex((part) => !(isListedPart(part.type) || hasField(part, added)))
    const part = parts[index]
    if (part !== undefined) {
      return { path: `messages.${at}.content.${index}`, message: hollowSentence(part.type) }
    }
  }
  return undefined
}

function hasField(part: ContentPart, names: ReadonlySet<string>): boolean {
  return names.size > 0 && Object.keys(part).some((name) => names.has(name))
}

/** What a configuration can name, and no text of a client's. */
const TYPE_NAME = /^[A-Za-z][A-Za-z0-9_]{0,31}$/

function hollowSentence(type: string): string {
  const [named, field] = TYPE_NAME.test(type) ? [` of type ${type}`, type] : ['', '<its field>']
  return `a part${named} is not relayed: use text, image_url or file, or ask the operator to add messages.content.${field} to pass_members of a channel`
}

/** Marks for a cache, which add nothing to the prompt. */
const CACHE_MARKS: ReadonlySet<string> = new Set(['cache_control', 'prompt_cache_breakpoint'])

/** Whether a part may only name what it means, such as a file or a video, so that its length says nothing of its tokens. */
export function mayFillContext(part: ContentPart, added: ReadonlySet<string>): boolean {
  const hasOwnBound = part.type === 'text' || part.type === 'image_url'
  return !hasOwnBound || Object.keys(part).some((name) => added.has(name) && !CACHE_MARKS.has(name))
}
