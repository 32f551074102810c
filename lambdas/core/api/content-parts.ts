import * as z from 'zod'
import { isListedPart } from '../allowed-fields.ts'
import type { ChatModel } from '../catalogue/model.ts'
import type { MODALITIES } from '../catalogue/parameters.ts'
import type { RequestIssue } from '../errors.ts'
import { tokensByLength } from '../pricing/token-usage.ts'

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

/** Some upstreams read documents and sound here, which cost more than an image is bounded with. */
const OTHER_DATA = /^\s*data:(?!\s*image\/)/i

/** Parts of unlisted types are left to the upstream. */
function faultOf(part: unknown): Fault | undefined {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) {
    return { path: [], message: 'each content part must be an object with `type`' }
  }
  if (!('type' in part) || typeof part.type !== 'string') {
    return { path: ['type'], message: '`type` must be a string' }
  }
  const { type } = part
  if ((type === 'text' || type === 'refusal') && typeof ({ ...part } as ContentPart)[type] !== 'string') {
    return { path: [type], message: `\`${type}\` must be a string in a part of type ${type}` }
  }
  const imageUrl = type === 'image_url' ? imageUrlOf({ ...part }) : undefined
  if (type === 'image_url' && imageUrl === undefined) {
    return { path: ['image_url'], message: '`image_url` must be an object with `url` in a part of type image_url' }
  }
  if (imageUrl !== undefined && OTHER_DATA.test(imageUrl)) {
    return {
      path: ['image_url'],
      message:
        'a `data:` url of `image_url` must hold an image, such as data:image/png;base64,…: send other data in a part of type file, if the model takes files',
    }
  }
  if (isListedPart(part.type) && ({ ...part } as ContentPart)[part.type] == null) {
    return { path: [part.type], message: `\`${part.type}\` is required in a part of type ${part.type}` }
  }
  return undefined
}

type Messages = readonly { readonly content?: string | readonly ContentPart[] | null | undefined }[]

/** The content parts of all messages. */
export function partsOf(messages: Messages): readonly ContentPart[] {
  return messages.flatMap(({ content }) => (typeof content === 'object' ? (content ?? []) : []))
}

type Target = {
  readonly model: Pick<ChatModel, 'id' | 'input_modalities'>
  /** Fields of content parts that the channels of the model add to the list. */
  readonly added: ReadonlySet<string>
}

/**
 * The error for the first part that is not relayed: one of which only its type would reach an upstream, which would ignore it or
 * report an obscure error, and one that the model does not take.
 */
export function refusedPartIssue(messages: Messages, { model, added }: Target): RequestIssue | undefined {
  for (const [at, { content }] of messages.entries()) {
    for (const [index, part] of (typeof content === 'object' ? (content ?? []) : []).entries()) {
      const fields = Object.keys(part).filter((name) => added.has(name))
      const isHollow = !isListedPart(part.type) && fields.length === 0
      const untaken = untakenPartMessage([part.type, ...fields], model)
      const message = untaken ?? (isHollow ? hollowPartMessage(part.type, model) : undefined)
      if (message !== undefined) {
        return { path: `messages.${at}.content.${index}`, message }
      }
    }
  }
  return undefined
}

/** What a model must take for a part of this type, or with this field. Other types are known to the operator alone, who allows them. */
const MODALITY_OF: ReadonlyMap<string, (typeof MODALITIES)[number]> = new Map([
  ['image_url', 'image'],
  ['file', 'file'],
  ['input_audio', 'audio'],
  ['audio_url', 'audio'],
  ['video_url', 'video'],
  ['video', 'video'],
  // Of responses and messages.
  ['input_image', 'image'],
  ['image', 'image'],
  ['input_file', 'file'],
  ['document', 'file'],
])

/** Why a model does not take a part of these types, or with these fields; undefined if it does. */
export function untakenPartMessage(
  names: readonly string[],
  { id, input_modalities }: Target['model'],
): string | undefined {
  const needed = names.flatMap((name) => MODALITY_OF.get(name) ?? [])
  const missing = needed.find((modality) => !input_modalities.includes(modality))
  return missing === undefined
    ? undefined
    : `the model ${id} does not take input of the kind ${missing}: leave this part out, or use a model whose \`input_modalities\` have ${missing}`
}

/** A type that a configuration can name. Anything else the client may have made up, and is not repeated in an error. */
const TYPE_NAME = /^[A-Za-z][A-Za-z0-9_]{0,31}$/

const UNTRANSLATED_FILE =
  'files are not translated, and no upstream of this model speaks the API of this route: try another route of its `endpoints`, or leave the file out'

/** How each API writes what a part holds; undefined for a file, which no translation takes. */
const PART_FORMS = {
  chat: {
    text: '{"type":"text","text":"…"}',
    'an image': '{"type":"image_url","image_url":{"url":"https://…"}}',
    'a file': '{"type":"file","file":{"filename":"…","file_data":"data:application/pdf;base64,…"}}',
  },
  responses: {
    text: '{"type":"input_text","text":"…"}',
    'an image': '{"type":"input_image","image_url":"https://…"}',
    'a file': undefined,
  },
  messages: {
    text: '{"type":"text","text":"…"}',
    'an image': '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"…"}}',
    'a file': undefined,
  },
} as const

/** What the types of these forms hold. */
const KIND_OF: ReadonlyMap<unknown, keyof (typeof PART_FORMS)['chat']> = new Map([
  ['text', 'text'],
  ['input_text', 'text'],
  ['output_text', 'text'],
  ['image_url', 'an image'],
  ['input_image', 'an image'],
  ['image', 'an image'],
  ['file', 'a file'],
  ['input_file', 'a file'],
  ['document', 'a file'],
])

/** How an API writes what a part of this type holds in any API; undefined for other types. */
export function partFormMessage(type: unknown, api: keyof typeof PART_FORMS): string | undefined {
  const kind = KIND_OF.get(type)
  const form = kind && PART_FORMS[api][kind]
  return form === undefined ? kind && UNTRANSLATED_FILE : `write ${kind} here as ${form}`
}

function hollowPartMessage(type: string, { input_modalities }: Target['model']): string {
  const formed = partFormMessage(type, 'chat')
  if (formed !== undefined) {
    return formed
  }
  const [named, field] = TYPE_NAME.test(type) ? [` of type ${type}`, type] : ['', '<its field>']
  const taken = ['text', 'image_url', 'file'].filter((each) =>
    input_modalities.includes(MODALITY_OF.get(each) ?? 'text'),
  )
  return `a part${named} is not supported: use ${taken.join(' or ')}, or ask the operator to add messages.content.${field} to pass_members of a channel`
}

/** Marks for a cache; they add nothing to the prompt. */
const CACHE_MARKS: ReadonlySet<string> = new Set(['cache_control', 'prompt_cache_breakpoint'])

type ImageModel = Pick<ChatModel, 'context_tokens' | 'image_tokens'>

/**
 * The most tokens of a part besides its text: those of an image by its detail. Undefined for a part without a bound, such as a file, a video,
 * or an image of a model for which the operator has set no number: it may fill the context.
 */
export function mediaTokensMax(
  part: ContentPart,
  { added, model }: { readonly added: ReadonlySet<string>; readonly model: ImageModel },
): number | undefined {
  if (Object.keys(part).some((name) => added.has(name) && !CACHE_MARKS.has(name))) {
    return undefined
  }
  if (part.type === 'image_url') {
    return imageTokensOf(imageUrlOf(part), imageDetailOf(part), model)
  }
  return part.type === 'text' ? 0 : undefined
}

type Prompt = {
  /** The most tokens of each image or other medium; undefined for one without a bound. */
  readonly media: readonly (number | undefined)[]
  /** Characters of the body that stand for the media. A url has at least as many bytes, so subtracting them keeps the bound. */
  readonly mediaBytes: number
  readonly bodyBytes: number
}

/** The most and the likely tokens of a prompt, of which images may come on top of the context. */
export function boundPrompt({ context_tokens }: ImageModel, { media, mediaBytes, bodyBytes }: Prompt) {
  const imageTokensMax = media.reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0)
  const withImages = (textTokens: number) =>
    imageTokensMax + (media.includes(undefined) ? context_tokens : Math.min(context_tokens, textTokens))
  const textBytes = bodyBytes - mediaBytes
  return {
    promptTokensMax: withImages(textBytes),
    imageTokensMax,
    promptTokensEstimate: withImages(tokensByLength(textBytes)),
  }
}

/**
 * The urls that are taken for an image. Any other one may be a document to an upstream: parsers of urls skip control characters, and some
 * upstreams read other schemes.
 */
const IMAGE_URL = /^(?:https?:\/\/[!-~\u0080-\uffff]*$|data:image\/(?:avif|bmp|gif|heic|heif|jpe?g|png|tiff|webp)[;,])/i

/** The most tokens of an image; undefined for one without a bound. @param detail null for none. */
export function imageTokensOf(url: string | undefined, detail: unknown, model: ImageModel): number | undefined {
  return IMAGE_URL.test(url ?? '') ? imageTokensMax(detail, model) : undefined
}

function imageTokensMax(detail: unknown, model: ImageModel): number | undefined {
  const byDetail = model.image_tokens
  if (typeof byDetail !== 'object') {
    return byDetail
  }
  if (detail === null) {
    return Math.max(...Object.values(byDetail))
  }
  // An upstream may take an unknown detail for its highest, or for more than that, and bill each image so.
  return typeof detail === 'string' && Object.hasOwn(byDetail, detail)
    ? byDetail[detail]
    : Math.max(model.context_tokens, ...Object.values(byDetail))
}
