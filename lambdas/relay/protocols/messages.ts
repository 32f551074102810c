import { type AgentRequest, servedBy } from '#core/api/agent-request.ts'
import { MESSAGES_ERRORS } from '#core/api/error-form.ts'
import { refuseHostedTools } from '#core/api/gated-fields.ts'
import { parseMessagesRequest } from '#core/api/messages-request.ts'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import { tokenBilling } from '#core/pricing/relay-cost.ts'
import type { TokenCounts } from '#core/pricing/token-usage.ts'
import { MessageTranslator } from '#core/translate/chat-to-messages.ts'
import { messageEvent } from '#core/translate/message-events.ts'
import { messagesToChat } from '#core/translate/messages-to-chat.ts'
import type { FromChannel } from '../relay-protocol.ts'
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
import { MessagesStream, messagesReplyReader } from './messages-stream.ts'
import { messagesTarget } from './messages-target.ts'
import { TranslatedReplyReader, TranslatedStream } from './translated-chat.ts'

/** The largest message that is held whole. */
const REPLY_BYTES_MAX = 32 * 1024 * 1024

const ROUTE = 'messages'

/** Query parameters that clients of the Anthropic API send. */
export const MESSAGES_QUERY = ['beta'] as const

/** POST /v1/messages: relayed as it is to an upstream that speaks it, translated for one that speaks chat. */
export const messages = defineRelayRoute<TokenCounts>({
  operation: 'create-message',
  errors: MESSAGES_ERRORS,
  query: MESSAGES_QUERY,
  keepAlive: messageEvent('ping'),
  read: (asked) => {
    const request = parseMessagesRequest(asked.json, asked)
    const { model, body, stream, gated, askedTokens: tokens } = request
    refuseHostedTools(gated, passedByChannels(ROUTE, model, asked))
    const translated = new TranslatedRequest(ROUTE, request, asked, messagesToChat)
    const head = { seed: asked.requestId.replaceAll('-', ''), publicModel: model.id }
    const isNative = (channel: RelayChannel) => servedBy(ROUTE, channel, model.id).api === ROUTE
    const translator = ({ channel }: FromChannel) =>
      new MessageTranslator(head, translated.of(channel.pass_members.chat).names)
    return {
      model,
      facts: { stream },
      calls: 1,
      sessionId: sessionOf(body, asked),
      rankOf: rankChannels(ROUTE, request, translated),
      billing: tokenBilling(model, [boundsOf(request, asked.bodyBytes, translated)], { name: 'max_tokens' }),
      write: (_, { channel, upstreamModel }) => {
        const { place, passed } = servedBy(ROUTE, channel, model.id)
        if (!isNative(channel)) {
          const limit = { name: channel.output_limit_member ?? 'max_tokens', tokens }
          const translation = translated.of(channel.pass_members.chat)
          return { path: place.path, ...translatedBody({ translation, upstreamModel, limit, stream }) }
        }
        return {
          ...messagesTarget(place, asked, request),
          ...nativeBody(asked.text, request, { passed, written: ownFields(request, upstreamModel) }),
        }
      },
      reader: (_, rules) =>
        isNative(rules.channel)
          ? messagesReplyReader(rules)
          : new TranslatedReplyReader(rules, () => translator(rules)),
      large: ({ channel }) => ({
        list: isNative(channel) ? 'content' : 'choices',
        bytesMax: REPLY_BYTES_MAX,
        areRelayed: isNative(channel),
      }),
      refusal: refusalIn(MESSAGES_ERRORS),
      streaming: stream
        ? {
            open: (_, rules) =>
              isNative(rules.channel) ? new MessagesStream(rules) : new TranslatedStream(rules, translator(rules)),
          }
        : undefined,
    }
  },
})

function ownFields({ askedTokens, body }: AgentRequest, upstreamModel: string): Map<string, string> {
  const written = new Map([['model', JSON.stringify(upstreamModel)]])
  if (askedTokens !== undefined && askedTokens !== body.max_tokens) {
    written.set('max_tokens', String(askedTokens))
  }
  return written
}
