import type { ErrorFacts } from '#core/api/error-form.ts'
import { type JsonObject, parseJsonObject } from '#core/json/parse-json-text.ts'
import type { Microcredits } from '#core/money.ts'
import type { TokenCounts } from '#core/pricing/token-usage.ts'
import { readUpstreamError } from '#core/providers/reply-reading.ts'
import { allSteps, type StreamRules } from '#core/relay/event-stream.ts'
import type { ReplyRules } from '#core/relay/reply-scan.ts'
import { EndlessEventError, SseEventReader } from '#core/relay/sse-events.ts'
import type { ReplyReader, WholeReply } from '#core/relay/whole-reply.ts'
import { asChunk } from '#core/translate/chat-deltas.ts'
import type { ChatTranslator } from '#core/translate/chat-translator.ts'
import type { RelayedStream } from '../relay-protocol.ts'
import { ChatReplyReader } from './chat-reply.ts'
import { ChatStream } from './chat-stream.ts'

/** Reads the whole reply of a chat upstream for a client of another API. */
export class TranslatedReplyReader implements ReplyReader<TokenCounts> {
  readonly #chat: ChatReplyReader
  readonly #newTranslator: () => ChatTranslator

  constructor(rules: ReplyRules, newTranslator: () => ChatTranslator) {
    this.#chat = new ChatReplyReader(rules, true)
    this.#newTranslator = newTranslator
  }

  push(bytes: Uint8Array): void {
    this.#chat.push(bytes)
  }

  end(): WholeReply<TokenCounts> {
    const read = this.#chat.end()
    if (read.kind !== 'reply') {
      return read
    }
    const chat = parseJsonObject(Buffer.concat(read.relayed(undefined)).toString('utf8'))
    const translate = (cost: Microcredits | undefined) => {
      const translator = this.#newTranslator()
      const events = translator.chunk(asChunk(chat ?? {})) + translator.end({ counts: read.usage, cost })
      return { events, reply: translator.reply, problem: translator.problem }
    }
    try {
      const { problem } = translate(undefined)
      if (problem !== undefined) {
        return { kind: 'unusable', reason: problem }
      }
    } catch (error) {
      if (error instanceof EndlessEventError) {
        return { kind: 'unusable', reason: error.message }
      }
      throw error
    }
    return {
      kind: 'reply',
      usage: read.usage,
      relayed: (cost) => [Buffer.from(JSON.stringify(translate(cost).reply))],
      events: (cost) => translate(cost).events,
    }
  }
}

/** A stream that is made of the one of a chat upstream: bytes in, bytes out, one character for each byte. */
export abstract class StreamOverChat implements RelayedStream<TokenCounts> {
  /** Reads the stream of the upstream: its end, its usage, its errors. */
  protected readonly chat: ChatStream
  readonly #events = new SseEventReader()

  constructor(chat: ChatStream) {
    this.chat = chat
  }

  get state(): ChatStream['state'] {
    return this.chat.state
  }

  /** Whether anything was written. Before that, nothing is lost when another upstream starts anew. */
  abstract get hasBegun(): boolean

  /** As {@link hasBegun}: what the other API cannot express is lost with its upstream. */
  get hasGenerated(): boolean {
    return this.hasBegun
  }

  get isAtWork(): boolean {
    return this.chat.isAtWork
  }

  get usage(): TokenCounts | undefined {
    return this.chat.usage
  }

  /** Bytes generated, in UTF-8, whether the other API can express them or not. */
  get relayedTextBytes(): number {
    return this.chat.relayedTextBytes
  }

  /** What to write for a chunk of the upstream. @throws EndlessEventError */
  push(bytes: string): string {
    const events = this.#translated(allSteps(this.chat.push(bytes)))
    return toBytes(this.state === 'done' ? events + this.finish() : events)
  }

  /** What to write when the upstream has ended; undefined when the stream ended inside an event. */
  end(): string | undefined {
    const rest = this.chat.end()
    if (rest === undefined) {
      return undefined
    }
    // The last event may lack its blank line.
    const events = this.#translated(`${rest}\n\n`)
    return toBytes(this.state === 'done' || this.state === 'finished' ? events + this.finish() : events)
  }

  #translated(chatEvents: string): string {
    const chunks = this.#events
      .push(chatEvents)
      .map(({ data = '' }) => parseJsonObject(Buffer.from(data, 'latin1').toString('utf8')))
    return this.translate(chunks.filter((chunk) => chunk !== undefined))
  }

  /** The events, as text, for some of the chat. */
  protected abstract translate(chunks: readonly JsonObject[]): string

  /** The last events. An upstream that says `[DONE]` has finished what it began. */
  protected abstract finish(): string
}

function toBytes(text: string): string {
  return Buffer.from(text).toString('latin1')
}

type Options = StreamRules & { readonly costOf: (usage: TokenCounts) => Microcredits | undefined }

/** Turns the stream of a chat upstream into events of another API. */
export class TranslatedStream extends StreamOverChat {
  readonly #translator: ChatTranslator
  readonly #costOf: Options['costOf']
  #hasEnded = false

  constructor({ costOf, ...rules }: Options, translator: ChatTranslator) {
    super(new ChatStream({ ...rules, relaysUsage: true, choices: 1, costOf: () => undefined }))
    this.#translator = translator
    this.#costOf = costOf
  }

  override get state(): ChatStream['state'] {
    return this.#translator.problem === undefined ? this.chat.state : 'failed'
  }

  get hasBegun(): boolean {
    return this.#translator.hasBegun
  }

  failure(error: ErrorFacts): string {
    return this.#translator.fail(error)
  }

  protected translate(chunks: readonly JsonObject[]): string {
    const events: string[] = []
    for (const [index, chunk] of chunks.entries()) {
      if (this.#translator.problem === undefined) {
        // Nothing follows the error of an upstream.
        const isFailed = this.chat.state === 'failed' && index === chunks.length - 1
        events.push(isFailed ? this.#fail(chunk) : this.#translator.chunk(chunk))
      }
    }
    return events.join('')
  }

  #fail(chunk: JsonObject): string {
    const { message = 'the upstream reported an error' } = readUpstreamError(chunk)
    return this.#translator.fail({ statusCode: 502, message, type: 'server_error', param: null, code: null })
  }

  /** A reply with a usage and no text is a whole one. */
  protected finish(): string {
    if (this.#hasEnded || !(this.hasBegun || this.chat.hasBegun)) {
      return ''
    }
    this.#hasEnded = true
    const { usage: counts } = this.chat
    const cost = counts === undefined ? undefined : this.#costOf(counts)
    return this.#translator.end({ counts, cost })
  }
}
