import { type AllowedFields, allowedFields, keepAllowedFields, type PassedBody } from '#core/allowed-fields.ts'
import { servedBy } from '#core/api/agent-request.ts'
import { type ChatRequest, parseChatRequest } from '#core/api/chat-request.ts'
import { OPENAI_ERRORS } from '#core/api/error-form.ts'
import { changeOutputLimit } from '#core/catalogue/parameters.ts'
import { replaceFields, withoutFields } from '#core/json/json-fields.ts'
import { isJsonObject, parseJsonObject } from '#core/json/parse-json-text.ts'
import { tokenBilling } from '#core/pricing/relay-cost.ts'
import type { TokenCounts } from '#core/pricing/token-usage.ts'
import { chatToMessagesRequest } from '#core/translate/chat-request-to-messages.ts'
import type { FromChannel, LargeReplies } from '../relay-protocol.ts'
import { defineRelayRoute } from '../run-request.ts'
import { boundsOf, rankSpeakers, refusalIn, TranslatedRequest, withToolPrompt } from './agent-calls.ts'
import { chatOverMessages, MessageAsChatReader, MessageAsChatStream, messagesRules } from './chat-over-messages.ts'
import { ChatReplyReader } from './chat-reply.ts'
import { askForUsage, type ChatChannel, ChatStream } from './chat-stream.ts'

/** The largest chat reply that is held whole, in several copies; images in it included. */
const REPLY_BYTES_MAX = 32 * 1024 * 1024

/** POST /v1/chat/completions: a request that is relayed as it is. */
export const chat = defineRelayRoute<TokenCounts>({
  operation: 'create-chat-completion',
  errors: OPENAI_ERRORS,
  read: (asked) => {
    const request = parseChatRequest(asked.json, asked)
    const { model, stream, includeUsage, choices } = request
    const body = isJsonObject(asked.json) ? asked.json : {}
    const translated = new TranslatedRequest('chat', { model, body }, asked, chatToMessagesRequest)
    const isNative = ({ channel }: FromChannel) => servedBy('chat', channel, model.id).api === 'chat'
    const rules = messagesRules(body, asked)
    return {
      model,
      facts: { stream },
      calls: 1,
      rankOf: rankSpeakers('chat', model, translated.isPossible),
      billing: tokenBilling(
        model,
        [boundsOf({ model, bounds: request }, asked.bodyBytes, withToolPrompt(translated, body))],
        outputLimit(request),
      ),
      write: (_, { channel, upstreamModel }) => {
        const { api, place } = servedBy('chat', channel, model.id)
        const written = upstreamChatBody(asked.text, { upstreamModel, chat: request, channel })
        return api === 'chat'
          ? { path: place.path, ...written }
          : chatOverMessages(parseJsonObject(written.text) ?? {}, written.ignored, { place, asked, model })
      },
      reader: (_, from) => {
        const reader = new ChatReplyReader(from, includeUsage)
        return isNative(from) ? reader : new MessageAsChatReader(reader, rules)
      },
      large: (from) => largeChat(isNative(from)),
      ...(translated.isPossible ? { refusal: refusalIn(OPENAI_ERRORS) } : {}),
      streaming: stream
        ? {
            open: (_, from) => {
              const chatStream = new ChatStream({ ...from, relaysUsage: includeUsage, choices })
              return isNative(from) ? chatStream : new MessageAsChatStream(chatStream, rules)
            },
          }
        : undefined,
    }
  },
})

/** Only a chat that comes as one is relayed while it arrives. */
function largeChat(isNative: boolean): LargeReplies {
  return { list: isNative ? 'choices' : 'content', bytesMax: REPLY_BYTES_MAX, areRelayed: isNative }
}

/** Of two limits, the larger one was reserved. */
function outputLimit({ askedLimits: { max_tokens: older, max_completion_tokens: newer } }: ChatRequest) {
  return {
    name: newer == null || (older ?? 0) > newer ? 'max_tokens' : 'max_completion_tokens',
    isAdded: older == null && newer == null,
  }
}

type ChatCall = {
  readonly upstreamModel: string
  readonly chat: Pick<ChatRequest, 'model' | 'stream' | 'streamOptions' | 'askedLimits'>
  readonly channel: ChatChannel
}

/**
 * Writes the body for an upstream: the client's fields that pass, with the upstream's model id, the output limit under the
 * channel's name for it and, for a stream, the request for the usage. Every other byte stays.
 */
export function upstreamChatBody(bodyText: string, { upstreamModel, chat, channel }: ChatCall): PassedBody {
  const allowed = allowedFields('chat', channel.pass_members.chat)
  const { text, ignored } = keepAllowedFields(bodyText, allowed)
  const written = new Map([['model', JSON.stringify(upstreamModel)]])
  if (chat.stream) {
    written.set('stream_options', streamOptions(chat, allowed))
  }
  const { write, leaveOut } = changeOutputLimit(chat.askedLimits, {
    wanted: channel.output_limit_member,
    fallback: chat.model.default_max_output_tokens,
  })
  if (write !== undefined) {
    written.set(write.name, String(write.tokens))
  }
  const kept = leaveOut === undefined ? text : withoutFields(text, new Set([leaveOut]))
  return { text: replaceFields(kept, written), ignored }
}

function streamOptions({ streamOptions: own }: Pick<ChatRequest, 'streamOptions'>, { fields }: AllowedFields): string {
  const allowed = fields.get('stream_options')
  const json = JSON.stringify(own)
  return askForUsage(allowed === undefined || allowed === 'whole' ? json : keepAllowedFields(json, allowed).text)
}
