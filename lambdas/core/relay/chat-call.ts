import { type AllowedFields, allowedFields, keepAllowedFields, type PassedBody } from '../allowed-fields.ts'
import type { ChatRequest } from '../api/chat-request.ts'
import type { CompletionRequest } from '../api/completion-request.ts'
import type { RelayChannel } from '../catalogue/channel.ts'
import { changeOutputLimit } from '../catalogue/parameters.ts'
import { replaceFields, topLevelFields, withoutFields } from '../json/json-fields.ts'

const USAGE_WANTED: ReadonlyMap<string, string> = new Map([['include_usage', 'true']])

/**
 * Asks for the usage in `stream_options`, whatever the client asked for, because a stream is billed by its usage.
 * @param options the client's own, as JSON; undefined and `null` are the same.
 */
export function askForUsage(options: string | undefined): string {
  return replaceFields(options?.startsWith('{') ? options : '{}', USAGE_WANTED)
}

/** The settings of a channel that decide about the body that it gets. */
export type ChatChannel = Pick<RelayChannel, 'pass_members' | 'output_limit_member'>

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
export type WriteCompletionCall = (call: CompletionCall) => PassedBody

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
export type CompletionCallBytes = {
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
