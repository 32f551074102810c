import { allowedFields, keepAllowedFields, type PassedBody } from '#core/allowed-fields.ts'
import { servedBy } from '#core/api/agent-request.ts'
import { type CompletionRequest, parseCompletionRequest } from '#core/api/completion-request.ts'
import { OPENAI_ERRORS } from '#core/api/error-form.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { topLevelFields } from '#core/json/json-fields.ts'
import { parseJsonObject } from '#core/json/parse-json-text.ts'
import { tokenBilling } from '#core/pricing/relay-cost.ts'
import { sumOfTokenCounts, type TokenCounts, tokensByLength } from '#core/pricing/token-usage.ts'
import type { CallEnd } from '#core/pricing/usage.ts'
import { chatToMessagesRequest } from '#core/translate/chat-request-to-messages.ts'
import type { FromChannel } from '../relay-protocol.ts'
import { defineRelayRoute } from '../run-request.ts'
import { rankSpeakers, TranslatedRequest } from './agent-calls.ts'
import { chatOverMessages, MessageAsChatReader, MessageAsChatStream, messagesRules } from './chat-over-messages.ts'
import { askForUsage, type ChatChannel } from './chat-stream.ts'
import { CompletionReplyReader, CompletionStream, CompletionWriter } from './completion-reply.ts'

/** All completions that a request may ask for, at any model's length, stay below. */
const REPLY_BYTES_MAX = 16 * 1024 * 1024

/**
 * What all calls of one request together may repeat of its body: 64 KiB for each of 128 prompts. Without a bound, a body of
 * 5 MiB would become 640 MiB on the way upstream.
 */
const REPEATED_BYTES_MAX = 8 * 1024 * 1024

const REPEATED_MESSAGE = `\`prompt\` holds too many strings: each repeats all other fields upstream, which may take at most ${REPEATED_BYTES_MAX / 1024 / 1024} MiB in total; send fewer strings or shorter fields`

/**
 * POST /v1/completions: a legacy completion is one chat call for each prompt, one after the other. The response is written from the
 * choices of the replies.
 */
export const completion = defineRelayRoute<TokenCounts>({
  operation: 'create-completion',
  errors: OPENAI_ERRORS,
  read: (asked) => {
    const { text, catalogue, requestId, nowMilliseconds } = asked
    const request = parseCompletionRequest(asked.json, asked)
    const { model, prompts, stream, maxTokensField: name } = request
    const longestCall = channelOfAll(catalogue.configuredRelayChannels(model.id))
    const { common, calls } = measureCompletionCalls(text, request, longestCall)
    const billing = tokenBilling(
      model,
      calls.map((bytes) => boundCall(request, bytes)),
      { name },
    )
    const writeCall = prepareCompletionCalls(text, request)
    const fallback = { id: `cmpl-${requestId}`, created: Math.trunc(nowMilliseconds / 1000) }
    // Of all that a completion may ask for, only the number of choices may have no counterpart.
    const translated = new TranslatedRequest('chat', { model, body: { n: request.n } }, asked, chatToMessagesRequest)
    const isNative = ({ channel }: FromChannel) => servedBy('chat', channel, model.id).api === 'chat'
    const rules = messagesRules({}, asked)
    const writer = new CompletionWriter(request, fallback)
    return {
      model,
      facts: { stream, prompts: prompts.length },
      calls: prompts.length,
      rankOf: rankSpeakers('chat', model, translated.isPossible),
      billing: {
        ...billing,
        estimate: () => {
          refuseRepetition(calls.length, common)
          return billing.estimate()
        },
      },
      write: (promptIndex, { channel, upstreamModel }) => {
        const { api, place } = servedBy('chat', channel, model.id)
        const written = writeCall({ promptIndex, model: upstreamModel, channel })
        return api === 'chat'
          ? { path: place.path, ...written }
          : chatOverMessages(parseJsonObject(written.text) ?? {}, written.ignored, { place, asked, model })
      },
      reader: (promptIndex, from) => {
        const reader = new CompletionReplyReader(writer, promptIndex)
        return isNative(from) ? reader : new MessageAsChatReader(reader, rules)
      },
      large: (from) => ({
        list: isNative(from) ? 'choices' : 'content',
        bytesMax: REPLY_BYTES_MAX,
        areRelayed: false,
      }),
      respond: (choices, ends, cost) => writer.whole(choices, sumOfUsages(ends), cost),
      streaming: stream
        ? {
            open: (promptIndex, from) => {
              const chat = new CompletionStream(from, { writer, promptIndex, n: request.n })
              return isNative(from) ? chat : new MessageAsChatStream(chat, rules)
            },
            end: (ends, cost) => writer.end(sumOfUsages(ends), cost),
          }
        : undefined,
    }
  },
})

/** No tokenizer makes more tokens than bytes, and the call's own syntax is longer than what a chat template adds. */
function boundCall({ model, n: choices, maxTokens: outputTokensMax }: CompletionRequest, bytes: number) {
  const promptTokensMax = Math.min(model.context_tokens, bytes)
  const promptTokensEstimate = Math.min(promptTokensMax, tokensByLength(bytes))
  return { promptTokensMax, promptTokensEstimate, outputTokensMax, choices }
}

/** @throws InvalidRequestError where the prompts together would repeat the other fields above {@link REPEATED_BYTES_MAX}. */
function refuseRepetition(calls: number, commonBytes: number): void {
  if (calls > 1 && calls * commonBytes > REPEATED_BYTES_MAX) {
    throw new InvalidRequestError([{ path: 'prompt', message: REPEATED_MESSAGE }])
  }
}

/** A channel whose calls are as long as the longest calls of these channels. */
function channelOfAll(channels: readonly ChatChannel[]): ChatChannel {
  const chat = channels.flatMap((channel) => channel.pass_members.chat)
  const longer = channels.find((channel) => channel.output_limit_member === 'max_completion_tokens')
  return { pass_members: { chat, embeddings: [], images: [] }, output_limit_member: longer?.output_limit_member }
}

/** Undefined if one of the usages is: a part of a sum is no usage. */
function sumOfUsages(ends: readonly CallEnd<TokenCounts>[]): TokenCounts | undefined {
  const known = ends.flatMap(({ usage }) => usage ?? [])
  return known.length === ends.length ? sumOfTokenCounts(known) : undefined
}

/**
 * Fields that the gateway writes itself for each chat call, or that have no meaning in chat. A client's own `messages` never
 * replace its prompt.
 */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'prompt',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'stream',
  'stream_options',
  'echo',
  'suffix',
  'logprobs',
  'best_of',
])

/** One chat call: its prompt, and the channel that gets it. */
type CompletionCall = {
  readonly promptIndex: number
  /** The id that the upstream knows. */
  readonly model: string
  readonly channel: ChatChannel
}

/** Writes the body of a chat call, as JSON. */
type WriteCompletionCall = (call: CompletionCall) => PassedBody

/**
 * Prepares the chat calls of a legacy completion: each prompt becomes the one message of a user. Every other field that passes
 * keeps its bytes, so that a seed of 64 bits stays whole. A stream is always asked for its usage, because the usage is
 * billed.
 * @param bodyText the request as the client wrote it: one valid JSON object.
 */
export function prepareCompletionCalls(bodyText: string, request: CompletionRequest): WriteCompletionCall {
  // Nearly all prompts of a request go to one channel.
  let latest: { readonly channel: ChatChannel; readonly common: PassedBody } | undefined
  return ({ promptIndex, model, channel }) => {
    if (latest?.channel !== channel) {
      latest = { channel, common: commonFields(bodyText, request, channel) }
    }
    const { text, ignored } = latest.common
    return { text: `${ownFields(request, { promptIndex, model })}${text}}`, ignored }
  }
}

/** The lengths of a request's chat calls, in UTF-8. */
type CompletionCallBytes = {
  /** The part that every call repeats. */
  readonly common: number
  /** The whole call for each prompt, in their order. */
  readonly calls: readonly number[]
}

/** Measures the calls without writing them: their common part may be as long as the whole body. */
export function measureCompletionCalls(
  bodyText: string,
  request: CompletionRequest,
  channel: ChatChannel,
): CompletionCallBytes {
  const model = request.model.id
  const common = Buffer.byteLength(commonFields(bodyText, request, channel).text)
  const closing = 1
  const calls = request.prompts.map(
    (_, promptIndex) => Buffer.byteLength(ownFields(request, { promptIndex, model })) + common + closing,
  )
  return { common, calls }
}

/** The fields of one call, as the beginning of an object. */
function ownFields({ prompts, n }: CompletionRequest, { promptIndex, model }: Omit<CompletionCall, 'channel'>): string {
  const content = prompts[promptIndex] ?? ''
  const written = { model, messages: [{ role: 'user', content }], ...(n === 1 ? {} : { n }) }
  return JSON.stringify(written).slice(0, -1)
}

/** The fields that all calls for a channel share, each behind a comma. */
function commonFields(bodyText: string, request: CompletionRequest, channel: ChatChannel): PassedBody {
  const { text, ignored } = keepAllowedFields(bodyText, allowedFields('completions', channel.pass_members.chat))
  const passed = new Map<string, string>()
  for (const { name, valueStart, valueEnd } of topLevelFields(text)) {
    passed.set(name, text.slice(valueStart, valueEnd))
  }
  const streaming: [string, string][] = request.stream
    ? [
        ['stream', 'true'],
        ['stream_options', askForUsage(passed.get('stream_options'))],
      ]
    : []
  const fields = [
    [channel.output_limit_member ?? request.maxTokensField, String(request.maxTokens)],
    ...[...passed].filter(([name]) => !OWN_FIELDS.has(name)),
    ...streaming,
  ]
  return { text: fields.map(([name, json]) => `,${JSON.stringify(name)}:${json}`).join(''), ignored }
}
