import type { PassedBody } from '#core/allowed-fields.ts'
import { type AgentRequest, servedBy } from '#core/api/agent-request.ts'
import { RESPONSES_ERRORS } from '#core/api/error-form.ts'
import { refuseHostedTools } from '#core/api/gated-fields.ts'
import { parseResponsesRequest } from '#core/api/responses-request.ts'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import { parseJsonObject } from '#core/json/parse-json-text.ts'
import { tokenBilling } from '#core/pricing/relay-cost.ts'
import type { TokenCounts } from '#core/pricing/token-usage.ts'
import type { ReplyReader } from '#core/relay/whole-reply.ts'
import { type ResponseHead, ResponseTranslator } from '#core/translate/chat-to-responses.ts'
import { responsesToChat } from '#core/translate/responses-to-chat.ts'
import type { ClientRequest, FromChannel, RelayedStream } from '../relay-protocol.ts'
import { defineRelayRoute } from '../run-request.ts'
import {
  boundsOf,
  nativeBody,
  passedByChannels,
  rankChannels,
  refusalIn,
  sessionOf,
  TranslatedRequest,
  translatedBody,
} from './agent-calls.ts'
import { chatOverMessages, MessageAsChatReader, MessageAsChatStream, messagesRules } from './chat-over-messages.ts'
import { ResponsesStream, responsesReplyReader } from './responses-stream.ts'
import { TranslatedReplyReader, TranslatedStream } from './translated-chat.ts'

/** The largest response that is held whole; images in it included. */
const REPLY_BYTES_MAX = 32 * 1024 * 1024

const ROUTE = 'responses'

/** POST /v1/responses: relayed as it is to an upstream that speaks it, translated for one that speaks chat. */
export const responses = defineRelayRoute<TokenCounts>({
  operation: 'create-response',
  errors: RESPONSES_ERRORS,
  read: (asked) => {
    const request = parseResponsesRequest(asked.json, asked)
    const { model, body, stream, gated, askedTokens } = request
    refuseHostedTools(gated, passedByChannels(ROUTE, model, asked))
    const translated = new TranslatedRequest(ROUTE, request, asked, responsesToChat)
    const head = headOf(asked, request)
    const isNative = (channel: RelayChannel) => servedBy(ROUTE, channel, model.id).api === ROUTE
    const speaksMessages = ({ channel }: FromChannel) => servedBy(ROUTE, channel, model.id).api === 'messages'
    const rulesOf = ({ channel }: FromChannel) => messagesRules(translated.of(channel.pass_members.chat).chat, asked)
    const asChat = (from: FromChannel, reader: ReplyReader<TokenCounts>) =>
      speaksMessages(from) ? new MessageAsChatReader(reader, rulesOf(from)) : reader
    const asChatStream = (from: FromChannel, chat: RelayedStream<TokenCounts>) =>
      speaksMessages(from) ? new MessageAsChatStream(chat, rulesOf(from)) : chat
    const translator = ({ channel }: FromChannel) =>
      new ResponseTranslator(head, translated.of(channel.pass_members.chat).names)
    return {
      model,
      facts: { stream },
      calls: 1,
      sessionId: sessionOf(body, asked),
      rankOf: rankChannels(ROUTE, request, translated),
      billing: tokenBilling(model, [boundsOf(request, asked.bodyBytes, translated)], {
        name: 'max_output_tokens',
        isAdded: askedTokens === undefined,
      }),
      write: (_, { channel, upstreamModel }) => {
        const { api, place, passed } = servedBy(ROUTE, channel, model.id)
        const body = isNative(channel)
          ? ownBody(nativeBody(asked.text, request, { passed, written: ownFields(request, upstreamModel) }), request)
          : translatedBody({
              translation: translated.of(channel.pass_members.chat),
              upstreamModel,
              limit: {
                name: channel.output_limit_member ?? 'max_completion_tokens',
                tokens: askedTokens ?? model.default_max_output_tokens,
              },
              stream,
            })
        if (api !== 'messages') {
          return { path: place.path, baseUrl: place.base_url, ...body }
        }
        const written = chatOverMessages(parseJsonObject(body.text) ?? {}, body.ignored, { place, asked, model })
        return { ...written, ignored: ownNames(written.ignored, request) }
      },
      reader: (_, rules) =>
        isNative(rules.channel)
          ? responsesReplyReader(rules)
          : asChat(rules, new TranslatedReplyReader(rules, () => translator(rules))),
      large: ({ channel }) => ({
        list: LISTS[servedBy(ROUTE, channel, model.id).api],
        bytesMax: REPLY_BYTES_MAX,
        areRelayed: isNative(channel),
      }),
      refusal: refusalIn(RESPONSES_ERRORS),
      streaming: stream
        ? {
            open: (_, rules) =>
              isNative(rules.channel)
                ? new ResponsesStream(rules)
                : asChatStream(rules, new TranslatedStream(rules, translator(rules))),
          }
        : undefined,
    }
  },
})

/** The lists by which upstreams of each API are told from others. */
const LISTS = { responses: 'output', chat: 'choices', messages: 'content' } as const

/** What a chat for messages leaves out, in the names of a response. */
function ownNames(ignored: readonly string[], { body }: AgentRequest): readonly string[] {
  // The gateway itself reads the key of the cache, which stands for the session, and asks for `logprobs` where the client counts them.
  const isAsked = (name: string) => name !== 'prompt_cache_key' && (name !== 'logprobs' || body.include != null)
  return ignored.filter(isAsked).map((name) => OWN_NAMES.get(name) ?? name)
}

/** The fields of a response that become these of a chat. */
const OWN_NAMES: ReadonlyMap<string, string> = new Map([
  ['messages.content.image_url.detail', 'input.content.detail'],
  ['tools.function.strict', 'tools.strict'],
  ['response_format', 'text.format'],
  ['logprobs', 'include'],
  ['verbosity', 'text.verbosity'],
])

/** The ids of a response are made of the id of its request, so that both are found by either. */
function headOf({ requestId, nowMilliseconds }: ClientRequest, { model, body }: AgentRequest): ResponseHead {
  const createdAt = Math.trunc(nowMilliseconds / 1000)
  return { seed: requestId.replaceAll('-', ''), createdAt, publicModel: model.id, body }
}

/** Names the wish to keep the response, which nobody does. */
function ownBody({ text, ignored }: PassedBody, { body: { store } }: AgentRequest): PassedBody {
  return { text, ignored: store === true ? ['store', ...ignored] : ignored }
}

/** Nothing is kept at the upstream, whatever the client wants. */
function ownFields({ model, askedTokens }: AgentRequest, upstreamModel: string): Map<string, string> {
  const written = new Map([
    ['model', JSON.stringify(upstreamModel)],
    ['store', 'false'],
  ])
  const fallback = model.default_max_output_tokens
  if (askedTokens === undefined && fallback !== undefined) {
    written.set('max_output_tokens', String(fallback))
  }
  return written
}
