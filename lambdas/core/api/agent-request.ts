import { type ApiPlace, type ConversationApi, placeOf, servingApi } from '../catalogue/apis.ts'
import type { RelayChannel } from '../catalogue/channel.ts'
import type { ChatModel } from '../catalogue/model.ts'
import { InvalidRequestError } from '../errors.ts'
import type { JsonObject } from '../json/parse-json-text.ts'
import { asText } from '../json/parse-json-text.ts'
import type { TokenCall } from '../pricing/relay-cost.ts'
import { boundPrompt, imageTokensOf, untakenPartMessage } from './content-parts.ts'
import type { Gated, Passed } from './gated-fields.ts'
import { MODEL_ENDPOINTS } from './paths.ts'
import { type Offered, requestedModel } from './request-issues.ts'

/** What the gateway reads from a request for a response or a message. */
export type AgentRequest = {
  readonly model: ChatModel
  /** The body as its client sent it. */
  readonly body: JsonObject
  readonly stream: boolean
  readonly gated: Gated
  readonly bounds: TokenCall
  /** The limit of the output as the client set it, lowered to the one of the model where the API says so. */
  readonly askedTokens: number | undefined
}

/**
 * The chat model that a request names, which at least one channel must be able to serve on this route.
 * @throws ModelNotFoundError; InvalidRequestError naming the route that serves it.
 */
export function modelOfRoute(id: string, route: ConversationApi, offered: Offered): ChatModel {
  const model = requestedModel(id, 'chat', offered)
  const channels = offered.catalogue.configuredRelayChannels(model.id)
  if (channels.length > 0 && channels.every((channel) => servingApi(route, channel, model.id) === undefined)) {
    const serving = (['responses', 'messages', 'chat'] as const).find((other) =>
      channels.some((channel) => servingApi(other, channel, model.id) !== undefined),
    )
    const message = `the model ${model.id} is not served here: send the request to ${MODEL_ENDPOINTS[serving ?? 'responses'].path}`
    throw new InvalidRequestError([{ path: 'model', message }])
  }
  return model
}

/** How a channel serves a request. */
export type Serving = { readonly api: ConversationApi; readonly place: ApiPlace; readonly passed: Passed }

/** How a channel serves a route; undefined if it cannot. */
export function servingOf(route: ConversationApi, channel: RelayChannel, modelId: string): Serving | undefined {
  const api = servingApi(route, channel, modelId)
  const place = api && placeOf(api, channel, modelId)
  if (api === undefined || place === undefined) {
    return undefined
  }
  const passed = api === route && api !== 'chat' ? (channel.pass_members[api] ?? []) : []
  return { api, place, passed }
}

/** The same for a channel that can. @throws RangeError for another one. */
export function servedBy(route: ConversationApi, channel: RelayChannel, modelId: string): Serving {
  const serving = servingOf(route, channel, modelId)
  if (serving === undefined) {
    throw new RangeError(`channel ${channel.id} does not serve ${modelId} on ${MODEL_ENDPOINTS[route].path}`)
  }
  return serving
}

/** A medium of a prompt: the characters that stand for it, and the most tokens of it; undefined for one without a bound. */
export type Medium = { readonly characters: number; readonly tokens: number | undefined }

/** Fields whose value may be fetched, or read as a document. */
const SOURCES = [
  'file_id',
  'file_url',
  'file_data',
  'image_url',
  'video_url',
  'audio_url',
  'input_audio',
  'source',
] as const

/** Fields that hold data of tools and not parts of a prompt, however they look. */
const NOT_PARTS: ReadonlySet<string> = new Set(['arguments', 'input_schema', 'parameters'])

/**
 * The media in a conversation, at any depth. An object of a type that the gateway does not know, with a field that names a source, has no
 * bound.
 * @throws InvalidRequestError for a medium of a kind that the model does not take.
 */
export function mediaOf(fields: Readonly<Record<string, unknown>>, model: ChatModel): readonly Medium[] {
  const media: Medium[] = []
  const waiting: Place[] = Object.entries(fields).map(([name, value]) => ({ name, value }))
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const { value } = at
    if (typeof value !== 'object' || value === null) {
      continue
    }
    const part = value as JsonObject
    const medium = Array.isArray(value) ? undefined : mediumOf(part, model)
    if (medium !== undefined) {
      refuseUntaken(at, part, model)
      media.push(medium)
      continue
    }
    const isCall = part.type === 'tool_use'
    for (const [name, inner] of Object.entries(part)) {
      if (!(NOT_PARTS.has(name) || (isCall && name === 'input'))) {
        waiting.push({ name, value: inner, above: at })
      }
    }
  }
  return media
}

/** A value in a body, and where it stands. */
type Place = { readonly name: string; readonly value: unknown; readonly above?: Place }

function pathOf({ name, above }: Place): string {
  return above === undefined ? name : `${pathOf(above)}.${name}`
}

function refuseUntaken(place: Place, { type }: JsonObject, model: ChatModel): void {
  const message = untakenPartMessage([asText(type)], model)
  if (message !== undefined) {
    throw new InvalidRequestError([{ path: pathOf(place), message }])
  }
}

function mediumOf(part: JsonObject, model: ChatModel): Medium | undefined {
  const { type, image_url: url, detail, source } = part
  if (type === 'input_image' && typeof url === 'string') {
    return { characters: url.length, tokens: imageTokensOf(url, detail === 'auto' ? null : (detail ?? null), model) }
  }
  if (type === 'image' && typeof source === 'object' && source !== null) {
    const { data, media_type: mediaType, url: link } = source as JsonObject
    const characters = typeof data === 'string' ? data.length : typeof link === 'string' ? link.length : 0
    const shown = typeof data === 'string' ? `data:${asText(mediaType)};base64,` : link
    return { characters, tokens: imageTokensOf(typeof shown === 'string' ? shown : undefined, null, model) }
  }
  const isUnbounded = typeof type === 'string' && SOURCES.some((name) => part[name] != null)
  return isUnbounded ? { characters: 0, tokens: undefined } : undefined
}

/** What an upstream may add to a prompt with tools: Anthropic's own words about them come to some hundred tokens. */
const TOOL_PROMPT_TOKENS = 1_000

type Prompt = {
  readonly bodyBytes: number
  readonly media: readonly Medium[]
  readonly outputTokensMax: number
  readonly hasTools: boolean
  /** Whether a tool of the upstream may add to the prompt as much as the context holds. */
  readonly mayGrow: boolean
}

/** Bounds the one call of a request by all of its body. */
export function boundAgentCall(model: ChatModel, prompt: Prompt): TokenCall {
  const { bodyBytes, media, outputTokensMax, hasTools, mayGrow } = prompt
  const characters = media.reduce((sum, medium) => sum + medium.characters, 0)
  const tokens = media.map((medium) => medium.tokens)
  return {
    ...boundPrompt(model, {
      media: mayGrow ? [...tokens, undefined] : tokens,
      mediaBytes: characters,
      bodyBytes: bodyBytes + (hasTools ? TOOL_PROMPT_TOKENS : 0),
    }),
    outputTokensMax,
    choices: 1,
  }
}

/** Why no upstream is asked for another pass over the conversation. */
export const COMPACTION = 'an upstream bills a compaction beyond the usage that it reports, so leave it out'

/** @throws InvalidRequestError naming the edit of the context that is a compaction. */
export function refuseCompaction(edits: unknown, path: string): void {
  const index = (Array.isArray(edits) ? edits : []).findIndex((edit) => asText(Object(edit).type).startsWith('compact'))
  if (index >= 0) {
    const here = `${path}.${index}`
    throw new InvalidRequestError([{ path: here, message: `\`${here}\`: ${COMPACTION}` }])
  }
}
