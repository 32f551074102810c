import type { PassedBody } from '#core/allowed-fields.ts'
import { type AgentRequest, servingOf } from '#core/api/agent-request.ts'
import type { ErrorForm } from '#core/api/error-form.ts'
import { leftOutOf, type Passed, passesAll } from '#core/api/gated-fields.ts'
import { type ConversationApi, rankOfApi, servingApi } from '#core/catalogue/apis.ts'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import type { ChatModel } from '#core/catalogue/model.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { replaceFields, withoutFields } from '#core/json/json-fields.ts'
import { isJsonObject, type JsonObject, parsedOrUndefined, parseJsonObject } from '#core/json/parse-json-text.ts'
import type { TokenCall } from '#core/pricing/relay-cost.ts'
import { believedUsage, readTokenUsage, type TokenCounts } from '#core/pricing/token-usage.ts'
import { readUpstreamError } from '#core/providers/reply-reading.ts'
import { isList, type ReplyScan } from '#core/relay/reply-scan.ts'
import { ScannedReply, type WholeReply } from '#core/relay/whole-reply.ts'
import { type ReasoningField, reasoningFieldOf } from '#core/translate/chat-messages.ts'
import type { ChatTranslation } from '#core/translate/responses-to-chat.ts'
import type { ClientRequest } from '../relay-protocol.ts'

/** Ranks the channels for a request. One that does not pass a tool that it needs cannot serve it, nor one that it cannot be translated for. */
export function rankChannels(
  route: ConversationApi,
  { model, gated }: Pick<AgentRequest, 'model' | 'gated'>,
  translated: TranslatedRequest,
) {
  return (channel: RelayChannel): number | undefined => {
    const serving = servingOf(route, channel, model.id)
    const canServe = serving !== undefined && (serving.api === route || translated.isPossible)
    return canServe && passesAll(gated, serving.passed) ? rankOfApi(route, serving.api) : undefined
  }
}

/** Translates a body for upstreams that take the reasoning of earlier turns in this field. @throws InvalidRequestError */
type Translate = (body: JsonObject, reasoningField: ReasoningField) => ChatTranslation

/** A request as chat upstreams get it, where the model has any on channels that do not speak the API of the route. */
export class TranslatedRequest {
  readonly #body: JsonObject
  readonly #translate: Translate
  readonly #made = new Map<ReasoningField, ChatTranslation>()
  readonly isPossible: boolean
  /** Bytes of the chat request: names and descriptions of tools may be longer than in the body of the client. */
  readonly bytes: number

  /** @throws InvalidRequestError for a request that no channel can serve. */
  constructor(
    route: ConversationApi,
    request: Pick<AgentRequest, 'model' | 'body'>,
    asked: Pick<ClientRequest, 'catalogue'>,
    translate: Translate,
  ) {
    this.#body = request.body
    this.#translate = translate
    const { id } = request.model
    const channels = asked.catalogue.configuredRelayChannels(id)
    const isNative = (channel: RelayChannel) => servingOf(route, channel, id)?.api === route
    const canBe = channels.some((channel) => !isNative(channel)) && this.#canBe(channels.some(isNative))
    this.isPossible = canBe
    this.bytes = canBe ? Buffer.byteLength(JSON.stringify(this.of([]).chat)) : 0
  }

  /** @param passed the fields that a channel adds to chat. */
  of(passed: readonly string[]): ChatTranslation {
    const field = reasoningFieldOf(passed)
    const made = this.#made.get(field) ?? this.#translate(this.#body, field)
    this.#made.set(field, made)
    return made
  }

  #canBe(hasNative: boolean): boolean {
    try {
      this.of([])
      return true
    } catch (error) {
      if (hasNative && error instanceof InvalidRequestError) {
        return false
      }
      throw error
    }
  }
}

/** What the Anthropic API adds to a prompt with tools, in its own words. */
const TOOL_PROMPT_TOKENS = 1_000

/** The bytes of a chat request that an upstream of the Anthropic API may get, with what it adds to tools. */
export function withToolPrompt({ isPossible, bytes }: TranslatedRequest, { tools }: JsonObject) {
  const added = Array.isArray(tools) && tools.length > 0 ? TOOL_PROMPT_TOKENS : 0
  return { bytes: isPossible ? bytes + added : 0 }
}

/** The bounds of a call that may be sent as another body. */
export function boundsOf(
  { model, bounds }: Pick<AgentRequest, 'model' | 'bounds'>,
  bodyBytes: number,
  { bytes }: Pick<TranslatedRequest, 'bytes'>,
): TokenCall {
  const more = Math.max(0, bytes - bodyBytes)
  const most = model.context_tokens + (bounds.imageTokensMax ?? 0)
  return { ...bounds, promptTokensMax: Math.min(most, bounds.promptTokensMax + more) }
}

type ChatCall = {
  readonly translation: ChatTranslation
  readonly upstreamModel: string
  readonly limit: { readonly name: string; readonly tokens: number | undefined }
  readonly stream: boolean
}

/** The body for a chat upstream. A stream is always asked for its usage, because the usage is billed. */
export function translatedBody({ translation, upstreamModel, limit, stream }: ChatCall): PassedBody {
  const { chat, ignored } = translation
  const body = {
    model: upstreamModel,
    ...chat,
    ...(limit.tokens === undefined ? {} : { [limit.name]: limit.tokens }),
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
  return { text: JSON.stringify(body), ignored }
}

/** How a whole reply of an agents' API is told from others, and becomes the events of a stream. */
type WholeForm = { readonly list: string; readonly events: (whole: JsonObject) => string }

/** Reads a whole reply of an upstream that speaks the API of the route. */
export class NativeReplyReader extends ScannedReply<TokenCounts, ReplyScan> {
  readonly #form: WholeForm

  /** @param scan reads the list of the form. */
  constructor(scan: ReplyScan, form: WholeForm) {
    super(scan)
    this.#form = form
  }

  end(): WholeReply<TokenCounts> {
    const { isValid, isObject, hasError, entries, listCode, usage: reported } = this.scan
    const { list, events } = this.#form
    if (!isValid || isObject !== true || !(isList(listCode) || hasError)) {
      return { kind: 'unusable', reason: `the reply has no list \`${list}\`` }
    }
    if (hasError && entries === 0) {
      return { kind: 'error' }
    }
    return {
      kind: 'reply',
      usage: believedUsage(readTokenUsage(parsedOrUndefined(reported)), entries > 0),
      relayed: (cost) => this.relayed(cost),
      events: (cost) => {
        const whole = parseJsonObject(Buffer.concat(this.relayed(cost)).toString('utf8'))
        return whole && events(whole)
      },
    }
  }
}

/** Writes the refusals of upstreams in the form of the client's API. One that has it already stays as it is. */
export function refusalIn(errors: ErrorForm) {
  return (refusal: JsonObject, { status: statusCode }: { readonly status: number }): object => {
    const { type, message } = readUpstreamError(refusal)
    const isOwn = (refusal.type === 'error') === (errors.requestIdHeader !== undefined) && isJsonObject(refusal.error)
    const facts = { statusCode, message: message ?? REFUSED, type: type ?? 'invalid_request_error' }
    return isOwn ? refusal : errors.body({ ...facts, param: null, code: null })
  }
}

const REFUSED = 'the upstream refused the request without a message for clients'

/** What stands for the session of a client that names none: the key of its cache, or the session of Claude Code or of Codex. */
export function sessionOf({ prompt_cache_key: key }: JsonObject, { header }: Pick<ClientRequest, 'header'>) {
  const cacheKey = typeof key === 'string' && key !== '' ? key : undefined
  return cacheKey ?? header('x-claude-code-session-id') ?? header('session-id')
}

/** The same for a route whose requests need nothing in particular. */
export function rankSpeakers(route: ConversationApi, { id }: Pick<ChatModel, 'id'>, canTranslate: boolean) {
  return (channel: RelayChannel): number | undefined => {
    const api = servingApi(route, channel, id)
    return api === undefined || !(api === route || canTranslate) ? undefined : rankOfApi(route, api)
  }
}

/** What the channels of a model pass on a route. */
export function passedByChannels(
  route: ConversationApi,
  { id }: AgentRequest['model'],
  { catalogue }: Pick<ClientRequest, 'catalogue'>,
): readonly Passed[] {
  return catalogue.configuredRelayChannels(id).map((channel) => servingOf(route, channel, id)?.passed ?? [])
}

/**
 * The body for an upstream with the API of the route: as the client wrote it, but for what the gateway writes and what the channel does not
 * pass.
 * @param written JSON by the name of its field.
 */
export function nativeBody(
  text: string,
  { body, gated }: Pick<AgentRequest, 'body' | 'gated'>,
  { passed, written }: { readonly passed: Passed; readonly written: ReadonlyMap<string, string> },
): PassedBody {
  const { fields, toolTypes, names } = leftOutOf(gated, passed)
  const kept = fields.length === 0 ? text : withoutFields(text, new Set(fields))
  const all = new Map(written)
  for (const name of toolTypes.size === 0 ? [] : ['tools', 'input']) {
    if (body[name] !== undefined && typeof body[name] !== 'string') {
      all.set(name, JSON.stringify(withoutTools(body[name], toolTypes)))
    }
  }
  return { text: replaceFields(kept, all), ignored: names }
}

/** A list of tools, or of items with tools, without those of some types. */
function withoutTools(list: unknown, types: ReadonlySet<string>): unknown {
  if (!Array.isArray(list)) {
    return list
  }
  const offered = list.filter((entry) => !(isJsonObject(entry) && types.has(String(entry.type))))
  return offered.map((entry: unknown) =>
    isJsonObject(entry) && Array.isArray(entry.tools) ? { ...entry, tools: withoutTools(entry.tools, types) } : entry,
  )
}
