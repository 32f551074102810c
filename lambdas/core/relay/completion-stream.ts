import { type JsonObject, parseJsonObject } from '../json/json-object.ts'
import type { TokenCounts } from '../pricing/token-usage.ts'
import type { ChatStream } from './chat-stream.ts'
import { type CompletionWriter, fieldsOf, indexOf, readGenerated, toEvent } from './completion-reply.ts'
import { SseEventReader } from './sse-events.ts'

type Options = {
  /** Reads the stream of the upstream: its end, its usage, its errors. */
  readonly chat: ChatStream
  readonly writer: CompletionWriter
  readonly promptIndex: number
  /** Completions of the prompt. */
  readonly n: number
}

/**
 * Turns the chat stream of one prompt into events of a legacy completion: bytes in, bytes out, one character for each byte.
 * Each event has one choice.
 */
export class CompletionStream {
  readonly #chat: ChatStream
  readonly #writer: CompletionWriter
  readonly #promptIndex: number
  /** By choice. */
  readonly #states: ('unbegun' | 'begun' | 'finished')[]
  readonly #events = new SseEventReader()

  constructor({ chat, writer, promptIndex, n }: Options) {
    this.#chat = chat
    this.#writer = writer
    this.#promptIndex = promptIndex
    this.#states = Array.from({ length: n }, () => 'unbegun')
  }

  get state(): ChatStream['state'] {
    return this.#chat.state
  }

  /** Whether anything was written. Before that, nothing is lost when another upstream starts anew. */
  get hasBegun(): boolean {
    return this.#states.some((state) => state !== 'unbegun')
  }

  /** As {@link hasBegun}: what no completion can express is lost with its upstream. */
  get hasGenerated(): boolean {
    return this.hasBegun
  }

  get hasChoices(): boolean {
    return this.#chat.hasChoices
  }

  get usage(): TokenCounts | undefined {
    return this.#chat.usage
  }

  /** Bytes generated, in UTF-8, whether a completion can express them or not. */
  get relayedTextBytes(): number {
    return this.#chat.relayedTextBytes
  }

  /** What to write for a chunk of the upstream. @throws EndlessEventError */
  push(bytes: string): string {
    const events = this.#translate(this.#chat.push(bytes))
    return this.#chat.state === 'done' ? events + this.#finishBegun() : events
  }

  /** What to write when the upstream has ended; undefined when the stream ended inside an event. */
  end(): string | undefined {
    const rest = this.#chat.end()
    if (rest === undefined) {
      return undefined
    }
    // The last event may lack its blank line.
    const events = this.#translate(`${rest}\n\n`)
    const { state, usage } = this.#chat
    const isAtEnd = state === 'done' || state === 'finished' || (state === 'open' && usage !== undefined)
    return isAtEnd ? events + this.#finishBegun() : events
  }

  #translate(chatEvents: string): string {
    let events = ''
    for (const { data } of this.#events.push(chatEvents)) {
      const chunk = data === undefined ? undefined : parseJsonObject(fromBytes(data))
      if (chunk?.error !== undefined && chunk.error !== null) {
        events += toEvent(JSON.stringify({ error: chunk.error }))
      } else if (Array.isArray(chunk?.choices)) {
        events += chunk.choices.map((choice) => this.#write(fieldsOf(choice), chunk)).join('')
      }
    }
    return toBytes(events)
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

  /** An upstream that says `[DONE]` has finished every completion that it began, with or without a reason. */
  #finishBegun(): string {
    const stop = (index: number) => this.#write({ index, finish_reason: 'stop' }, {})
    return toBytes(this.#states.map((state, index) => (state === 'begun' ? stop(index) : '')).join(''))
  }
}

function fromBytes(data: string): string {
  return Buffer.from(data, 'latin1').toString('utf8')
}

function toBytes(text: string): string {
  return Buffer.from(text).toString('latin1')
}
