import type { CompletionRequest } from '#core/api/completion-request.ts'
import { OPENAI_ERRORS } from '#core/api/error-form.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '#core/json/parse-json-text.ts'
import type { Microcredits } from '#core/money.ts'
import {
  believedUsage,
  countedTokens,
  inputTokensOf,
  readTokenUsage,
  type TokenCounts,
} from '#core/pricing/token-usage.ts'
import type { StreamRules } from '#core/relay/event-stream.ts'
import { costNumber } from '#core/relay/reply-scan.ts'
import { END_OF_STREAM } from '#core/relay/sse-events.ts'
import type { ReplyReader, WholeReply } from '#core/relay/whole-reply.ts'
import { ChatScan, ChatStream } from './chat-stream.ts'
import { StreamOverChat } from './translated-chat.ts'

/** Id and time of every response and of every chunk of a stream. */
export type CompletionHead = {
  readonly id: string
  /** Unix seconds. */
  readonly created: number
}

/** One completion, or a piece of one: what an upstream generated, and why it ended. */
type GeneratedText = {
  readonly text: string
  /** In the words of the legacy API; undefined until the completion ends. */
  readonly finishReason: string | undefined
}

/** The parts of a whole chat reply that a legacy completion can express. */
export type ChatChoices = {
  /** Id and time are read from here ({@link CompletionWriter}). */
  readonly reply: JsonObject
  /** In order of their `index`, or of their position without one. */
  readonly choices: readonly GeneratedText[]
  /** Undefined when the upstream reports none, or none that can be believed. */
  readonly usage: TokenCounts | undefined
}

/**
 * Reads a whole chat reply. Undefined for a string that is not a JSON object with choices, and for choices without any message
 * and without a usage, which says what they cost.
 */
export function readChatChoices(text: string): ChatChoices | undefined {
  const reply = parseJsonObject(text)
  const choices = reply?.choices
  if (reply === undefined || !Array.isArray(choices) || choices.length === 0) {
    return undefined
  }
  const { hasGenerated, hasMessage } = new ChatScan({ list: 'choices' }).push(text)
  const usage = believedUsage(readTokenUsage(reply.usage), hasGenerated)
  if (usage === undefined && !hasMessage) {
    return undefined
  }
  const ordered = choices.map(fieldsOf).map((choice, place) => ({ choice, order: indexOf(choice) ?? place }))
  ordered.sort((left, right) => left.order - right.order)
  return {
    reply,
    usage,
    choices: ordered.map(({ choice }) => {
      const { text: generated, finishReason = 'stop' } = readGenerated(choice.message, choice)
      return { text: generated, finishReason }
    }),
  }
}

/**
 * Reads a message or a delta of a choice: its content as such or in parts. A tool call and a refusal have no text, and a tool
 * call ends as a stop. Other reasons stay as they are.
 */
function readGenerated(message: unknown, { finish_reason: reason }: JsonObject): GeneratedText {
  const { content } = fieldsOf(message)
  const text = Array.isArray(content)
    ? content.map((part) => stringOf(fieldsOf(part).text)).join('')
    : stringOf(content)
  const isCall = reason === 'tool_calls' || reason === 'function_call'
  return { text, finishReason: typeof reason === 'string' ? (isCall ? 'stop' : reason) : undefined }
}

/** The `index` of a choice. */
function indexOf({ index }: JsonObject): number | undefined {
  return typeof index === 'number' ? index : undefined
}

/** The fields of what should be an object; no fields for anything else. */
function fieldsOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A place among the completions of a request: choice `k` of prompt `i` has the index `i * n + k`. */
type Place = { readonly promptIndex: number; readonly choice: number }

/** Writes the response to one legacy completion, whole or as the events of a stream. */
export class CompletionWriter {
  readonly #request: CompletionRequest
  readonly #fallback: CompletionHead
  #head: CompletionHead | undefined

  /** @param fallback replaces an id and a time that the first reply leaves out. */
  constructor(request: CompletionRequest, fallback: CompletionHead) {
    this.#request = request
    this.#fallback = fallback
  }

  /** The completions of one prompt, as JSON elements of `choices`. Surplus choices of an upstream are dropped. */
  elements(promptIndex: number, { reply, choices }: ChatChoices): string {
    this.#headOf(reply)
    return choices
      .slice(0, this.#request.n)
      .map((piece, choice) => JSON.stringify(this.#element({ promptIndex, choice }, { ...piece, isFirst: true })))
      .join(',')
  }

  /**
   * The whole response.
   * @param choices the elements of each prompt. @param usage the sum; left out if undefined, because a part of a sum is no usage.
   */
  whole(choices: readonly Uint8Array[], usage: TokenCounts | undefined, cost: Microcredits | undefined): Uint8Array[] {
    const head = JSON.stringify(this.#openingFields({})).slice(0, -1)
    const end = usage === undefined ? ']}' : `],"usage":${JSON.stringify(completionUsage(usage, cost))}}`
    const parts = choices.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from(','), part]))
    return [Buffer.from(`${head},"choices":[`), ...parts, Buffer.from(end)]
  }

  /**
   * The event with a piece of one completion. The echo comes before its first text, the suffix with its finish reason.
   * @param reply has id and time of the upstream.
   */
  event(place: Place, piece: GeneratedText & { readonly isFirst: boolean }, reply: JsonObject): string {
    const choices = [this.#element(place, piece)]
    const usage = this.#request.includeUsage ? { usage: null } : {}
    return toEvent(JSON.stringify({ ...this.#openingFields(reply), choices, ...usage }))
  }

  /** The events of a whole reply, for an upstream that does not stream. */
  events(promptIndex: number, { reply, choices }: ChatChoices): string {
    const { n } = this.#request
    const events = choices
      .slice(0, n)
      .map((piece, choice) => this.event({ promptIndex, choice }, { ...piece, isFirst: true }, reply))
    return events.join('')
  }

  /** The end of a stream after every prompt: the usage, if asked for and known, and `[DONE]`. */
  end(usage: TokenCounts | undefined, cost: Microcredits | undefined): string {
    const isShown = this.#request.includeUsage && usage !== undefined
    const last = { ...this.#openingFields({}), choices: [] }
    const chunk = isShown ? toEvent(JSON.stringify({ ...last, usage: completionUsage(usage, cost) })) : ''
    return chunk + toEvent(END_OF_STREAM)
  }

  #element({ promptIndex, choice }: Place, { text, finishReason, isFirst }: GeneratedText & { isFirst: boolean }) {
    const { prompts, n, echo, suffix } = this.#request
    const before = isFirst && echo ? (prompts[promptIndex] ?? '') : ''
    const after = finishReason === undefined ? '' : suffix
    return {
      text: before + text + after,
      index: promptIndex * n + choice,
      logprobs: null,
      finish_reason: finishReason ?? null,
    }
  }

  /** Fields in the order of docs/api.md. */
  #openingFields(reply: JsonObject) {
    const { id, created } = this.#headOf(reply)
    return { id, object: 'text_completion', created, model: this.#request.model.id }
  }

  /** All parts of a response have the same head: `cmpl-L0` where the first chat reply has `chatcmpl-L0`. */
  #headOf({ id, created }: JsonObject): CompletionHead {
    this.#head ??= {
      id: typeof id === 'string' && id !== '' ? `cmpl-${id.replace(CHAT_ID_PREFIX, '')}` : this.#fallback.id,
      created:
        typeof created === 'number' && Number.isSafeInteger(created) && created >= 0 ? created : this.#fallback.created,
    }
    return this.#head
  }
}

const CHAT_ID_PREFIX = /^(?:chat)?cmpl-/

/** One server-sent event. */
function toEvent(data: string): string {
  return `data: ${data}\n\n`
}

/** The field `usage` of openapi.json: with details of the prompt if a cache had to do with it, and with the cost if there is one. */
function completionUsage(counts: TokenCounts, cost: Microcredits | undefined) {
  const promptTokens = inputTokensOf(counts)
  const { cachedInputTokens, cacheWriteTokens } = countedTokens(counts)
  const details = {
    ...(cachedInputTokens > 0 ? { cached_tokens: cachedInputTokens } : {}),
    ...(cacheWriteTokens > 0 ? { cache_write_tokens: cacheWriteTokens } : {}),
  }
  return {
    prompt_tokens: promptTokens,
    completion_tokens: counts.output,
    total_tokens: promptTokens + counts.output,
    ...(Object.keys(details).length > 0 ? { prompt_tokens_details: details } : {}),
    ...(cost === undefined ? {} : { cost: costNumber(cost) }),
  }
}

/** Reads the whole chat reply to one prompt. */
export class CompletionReplyReader implements ReplyReader<TokenCounts> {
  readonly #writer: CompletionWriter
  readonly #promptIndex: number
  readonly #held: Uint8Array[] = []

  constructor(writer: CompletionWriter, promptIndex: number) {
    this.#writer = writer
    this.#promptIndex = promptIndex
  }

  push(bytes: Uint8Array): void {
    this.#held.push(bytes)
  }

  end(): WholeReply<TokenCounts> {
    const chat = readChatChoices(Buffer.concat(this.#held).toString('utf8'))
    if (chat === undefined) {
      return { kind: 'unusable', reason: 'the reply is not a chat completion' }
    }
    return {
      kind: 'reply',
      usage: chat.usage,
      relayed: () => [Buffer.from(this.#writer.elements(this.#promptIndex, chat))],
      events: () => this.#writer.events(this.#promptIndex, chat),
    }
  }
}

type Prompt = {
  readonly writer: CompletionWriter
  readonly promptIndex: number
  /** Completions of the prompt. */
  readonly n: number
}

/** Turns the chat stream of one prompt into events of a legacy completion. Each event has one choice. */
export class CompletionStream extends StreamOverChat {
  readonly #writer: CompletionWriter
  readonly #promptIndex: number
  /** By choice. */
  readonly #states: ('unbegun' | 'begun' | 'finished')[]

  constructor(rules: StreamRules, { writer, promptIndex, n }: Prompt) {
    super(new ChatStream({ ...rules, relaysUsage: false, choices: n, costOf: () => undefined }))
    this.#writer = writer
    this.#promptIndex = promptIndex
    this.#states = Array.from({ length: n }, () => 'unbegun')
  }

  get hasBegun(): boolean {
    return this.#states.some((state) => state !== 'unbegun')
  }

  protected translate(chunks: readonly JsonObject[]): string {
    const events = chunks.map((chunk) => {
      if (chunk.error !== undefined && chunk.error !== null) {
        return OPENAI_ERRORS.event({ error: chunk.error })
      }
      return Array.isArray(chunk.choices)
        ? chunk.choices.map((choice) => this.#write(fieldsOf(choice), chunk)).join('')
        : ''
    })
    return events.join('')
  }

  /** Nothing is written for a choice that nobody asked for, after its finish reason, or without text. */
  #write(choice: JsonObject, chunk: JsonObject): string {
    const index = indexOf(choice) ?? 0
    const state = this.#states[index]
    const piece = readGenerated(choice.delta ?? choice.message, choice)
    if (state === undefined || state === 'finished' || (piece.text === '' && piece.finishReason === undefined)) {
      return ''
    }
    this.#states[index] = piece.finishReason === undefined ? 'begun' : 'finished'
    const place = { promptIndex: this.#promptIndex, choice: index }
    return this.#writer.event(place, { ...piece, isFirst: state === 'unbegun' }, chunk)
  }

  /** Every completion that has begun is finished, with or without a reason. */
  protected finish(): string {
    const stop = (index: number) => this.#write({ index, finish_reason: 'stop' }, {})
    return this.#states.map((state, index) => (state === 'begun' ? stop(index) : '')).join('')
  }
}
