import { type ErrorForm, upstreamError } from '../api/error-form.ts'
import { hiddenInRefusal } from '../catalogue/hidden-fields.ts'
import type { CredentialFilter } from '../redaction.ts'
import { type ReplyRules, ReplyScan } from './reply-scan.ts'
import { END_OF_STREAM, editEvent, isHalfEvent, type SseEvent, SseEventReader } from './sse-events.ts'

/** How far a stream has come. Only `done` and `finished` are good ends. */
export type StreamState =
  /** Parts of a reply, or nothing yet. */
  | 'open'
  /** Nothing is missing but the end. */
  | 'finished'
  /** The end has come; nothing after it is relayed. */
  | 'done'
  /** The upstream has reported an error; nothing after it is relayed. */
  | 'failed'

/** What the events of one reply are read with. */
export type StreamRules = ReplyRules & {
  /** For what an upstream says in its own words, which may repeat what it was called with. */
  readonly withoutCredentials: CredentialFilter
}

/** What to relay, or the steps to it. */
export type Pushed = string | Generator<undefined, string>

/** What all steps lead to, without a pause. */
export function allSteps(pushed: Pushed): string {
  if (typeof pushed === 'string') {
    return pushed
  }
  for (let step = pushed.next(); ; step = pushed.next()) {
    if (step.done === true) {
      return step.value
    }
  }
}

/** A larger event is read in steps of so many bytes. */
const STEP_BYTES = 64 * 1024

/**
 * Relays the events of one reply: bytes in, bytes out, one character for each byte, whole events only. Events stay as they are but
 * for the public model id, what is hidden, and what a protocol changes. A protocol says how one event is read ({@link read}), and
 * notes there how far the reply has come.
 */
export abstract class EventStream<Usage, Scan extends ReplyScan> {
  state: StreamState = 'open'
  /**
   * Whether the reply has begun: something was generated or ended, or an event came that the gateway does not know. Before that,
   * nothing is lost when another upstream starts anew.
   */
  hasBegun = false
  /** Whether anything was generated: an error before that is no part of a reply. */
  hasGenerated = false
  /** Whether the upstream is at work, even if only a role has come. */
  isAtWork = false
  /** Bytes that were generated: what there is to bill when an upstream breaks off without a usage. */
  relayedTextBytes = 0
  protected readonly rules: StreamRules
  readonly #errors: ErrorForm
  readonly #reader = new SseEventReader()

  constructor(rules: StreamRules, errors: ErrorForm) {
    this.rules = rules
    this.#errors = errors
  }

  /** What the upstream has reported so far; undefined for nothing that can be believed. */
  abstract get usage(): Usage | undefined

  /** Reads the data of one event. */
  protected abstract newScan(): Scan

  /** Keeps the usage of an event. */
  protected abstract keepUsage(scan: Scan): void

  /** Whether everything has come that a reply needs, so that a stream may end without saying so: the usage comes last. */
  protected get isAtEnd(): boolean {
    return this.usage !== undefined
  }

  /** What to relay for an event whose data is an object, or begins as one, and no error. */
  protected abstract read(event: SseEvent, scan: Scan): string

  /**
   * What to relay for a chunk of the upstream; empty while an event is not complete. Of large events it comes after some steps, between
   * which others may have their turn.
   * @throws EndlessEventError
   */
  push(bytes: string): Pushed {
    const events = this.#reader.push(bytes)
    if (events.some(({ raw }) => raw.length > STEP_BYTES)) {
      return this.#pushInSteps(events)
    }
    let output = ''
    for (const event of events) {
      output += this.#relay(event)
    }
    return output
  }

  *#pushInSteps(events: readonly SseEvent[]): Generator<undefined, string> {
    let output = ''
    for (const event of events) {
      const scan = this.newScan()
      const { data = '' } = event
      for (let at = 0; at < data.length; at += STEP_BYTES) {
        scan.push(data.slice(at, at + STEP_BYTES))
        yield
      }
      output += this.#relay(event, scan)
    }
    return output
  }

  /**
   * What to relay when the upstream has ended: an event whose blank line is missing. Undefined when the stream ended inside
   * an event, because no client could read half of it.
   */
  end(): string | undefined {
    const event = this.#reader.end()
    if (event !== undefined && !this.#isOver && isHalfEvent(event)) {
      return undefined
    }
    const rest = event === undefined ? '' : this.#relay(event)
    this.#judgeEnd()
    return rest
  }

  get #isOver(): boolean {
    return this.state === 'failed' || this.state === 'done'
  }

  /** An empty reply is valid if nothing is missing. */
  #judgeEnd(): void {
    if (this.isAtEnd) {
      this.hasBegun ||= this.isAtWork
      this.state = this.state === 'open' ? 'finished' : this.state
    }
  }

  /** @param begun the scan of the data, if that was read before. */
  #relay(event: SseEvent, begun?: Scan): string {
    const { raw, data, isError } = event
    if (this.#isOver) {
      return ''
    }
    if (data === undefined) {
      return raw
    }
    if (data.trim() === END_OF_STREAM) {
      return this.readDone(raw)
    }
    const scan = begun ?? this.newScan().push(data)
    if (isError || scan.hasError) {
      return this.fail(event, scan)
    }
    return scan.isObject === true ? this.read(event, scan) : this.relayUnknown(event, scan)
  }

  /** An event that the gateway does not know: some upstreams report errors in forms of their own. */
  protected relayUnknown(event: SseEvent, { edits }: Scan): string {
    this.hasBegun = true
    return this.rules.withoutCredentials(editEvent(event, edits))
  }

  /** What to relay for `[DONE]`. */
  protected readDone(raw: string): string {
    this.state = 'done'
    this.#judgeEnd()
    return this.hasBegun ? raw : ''
  }

  /** What to relay for an error. One that is no JSON object is replaced, because it may name the upstream anywhere. */
  protected fail(event: SseEvent, scan: Scan): string {
    this.keepUsage(scan)
    this.state = 'failed'
    if (scan.isObject !== true || !scan.isValid) {
      return this.#errors.event(this.#errors.body(upstreamError('the upstream reported an error')))
    }
    const { edits } = new ReplyScan({ hidden: hiddenInRefusal(this.rules.hidden) }).push(event.data ?? '')
    return this.rules.withoutCredentials(editEvent(event, edits))
  }
}
