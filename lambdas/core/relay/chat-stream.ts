import { hiddenInRefusal } from '../catalogue/hidden-fields.ts'
import type { FieldTree } from '../json/json-fields.ts'
import type { Microcredits } from '../money.ts'
import { believedUsage, readTokenUsage, type TokenCounts } from '../pricing/token-usage.ts'
import type { CredentialFilter } from '../redaction.ts'
import { ChatScan } from './chat-scan.ts'
import { editsWithCost, type ReplyRules, ReplyScan } from './reply-scan.ts'
import { editEvent, isHalfEvent, type SseEvent, SseEventReader } from './sse-events.ts'

/** How far a stream has come. Only `done` and `finished` are good ends. */
type StreamState =
  /** Parts of a reply, or nothing yet. */
  | 'open'
  /** Every choice has its finish reason; `[DONE]` has not come. */
  | 'finished'
  /** `[DONE]` has come. */
  | 'done'
  /** The upstream has reported an error; nothing after it is relayed. */
  | 'failed'

type ChatStreamOptions = ReplyRules & {
  /** Whether the client asked for the chunk that holds nothing but the usage; the upstream is always asked. */
  readonly relaysUsage: boolean
  /** Choices of the reply (`n`), each of which ends with a finish reason. */
  readonly choices: number
  /** For an upstream's error event, whose words may repeat what it was called with. */
  readonly withoutCredentials: CredentialFilter
  /** The cost to show in a usage that the client asked for; undefined where nothing is billed. */
  readonly costOf: (usage: TokenCounts) => Microcredits | undefined
}

/** In place of an error that is no JSON object: it may name the upstream anywhere. */
const UNREADABLE_ERROR = `data: ${JSON.stringify({
  error: { message: 'the upstream reported an error', type: 'server_error', param: null, code: 'upstream_error' },
})}\n\n`

/** A larger event is read in steps of so many bytes. */
const STEP_BYTES = 64 * 1024

/** What to relay, or the steps to it. */
export type Pushed = string | Generator<undefined, string>

/** @returns what all steps lead to, without a pause. */
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

/**
 * Relays a chat stream: bytes in, bytes out, one character for each byte. Whole events are relayed unchanged but for the
 * public model id, what is hidden, and the cost in a usage that the client asked for; usage, end and error are kept for the
 * settlement.
 */
export class ChatStream {
  readonly #reader = new SseEventReader()
  readonly #hidden: FieldTree
  readonly #modelJson: string
  readonly #relaysUsage: boolean
  readonly #withoutCredentials: CredentialFilter
  readonly #costOf: ChatStreamOptions['costOf']
  #unfinished: number
  #state: StreamState = 'open'
  #usage: TokenCounts | undefined
  #relayedTextBytes = 0
  #hasChoices = false
  #hasGenerated = false
  #hasBegun = false

  constructor({ publicModel, hidden, relaysUsage, choices, withoutCredentials, costOf }: ChatStreamOptions) {
    this.#hidden = hidden
    this.#modelJson = JSON.stringify(publicModel)
    this.#relaysUsage = relaysUsage
    this.#withoutCredentials = withoutCredentials
    this.#costOf = costOf
    this.#unfinished = choices
  }

  get state(): StreamState {
    return this.#state
  }

  /**
   * Whether the reply has begun: something was generated, a choice has its finish reason, or an event came that the gateway
   * does not know. At the end of a stream, a usage beside a choice is enough. Before that, nothing is lost when another
   * upstream starts anew.
   */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Whether anything was generated. */
  get hasGenerated(): boolean {
    return this.#hasGenerated
  }

  /** Whether any choice has come, even with its role alone. */
  get hasChoices(): boolean {
    return this.#hasChoices
  }

  /** The last usage that was not null; never a sum, because some upstreams report a running total on every chunk. */
  get usage(): TokenCounts | undefined {
    return believedUsage(this.#usage, this.#hasGenerated)
  }

  /** Bytes of generated text so far: what there is to bill when an upstream breaks off without a usage. */
  get relayedTextBytes(): number {
    return this.#relayedTextBytes
  }

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
      const scan = this.#newScan()
      const { data = '' } = event
      for (let at = 0; at < data.length; at += STEP_BYTES) {
        scan.push(data.slice(at, at + STEP_BYTES))
        yield
      }
      output += this.#relay(event, scan)
    }
    return output
  }

  #newScan(): ChatScan {
    return new ChatScan({ hidden: this.#hidden, modelJson: this.#modelJson, list: 'choices' })
  }

  /**
   * What to relay when the upstream has ended: an event whose blank line is missing. Undefined when the stream ended inside
   * an event, because no client could read half of it.
   */
  end(): string | undefined {
    const event = this.#reader.end()
    const isOver = this.#state === 'failed' || this.#state === 'done'
    if (event !== undefined && !isOver && isHalfEvent(event)) {
      return undefined
    }
    const rest = event === undefined ? '' : this.#relay(event)
    this.#judgeEnd()
    return rest
  }

  /** @param read the data, if that was read before. */
  #relay(event: SseEvent, read?: ChatScan): string {
    if (this.#state === 'failed' || this.#state === 'done') {
      return ''
    }
    if (event.data === undefined) {
      return event.raw
    }
    if (event.data.trim() === '[DONE]') {
      this.#state = 'done'
      this.#judgeEnd()
      return this.#hasBegun ? event.raw : ''
    }
    return this.#relayChunk(event, event.data, read ?? this.#newScan().push(event.data))
  }

  /** An empty reply is valid if it has a usage. */
  #judgeEnd(): void {
    this.#hasBegun ||= this.#hasChoices && this.#usage !== undefined
  }

  #relayChunk(event: SseEvent, data: string, scan: ChatScan): string {
    if (scan.hasError || event.isError) {
      this.#keepUsage(scan.reportedUsage)
      this.#state = 'failed'
      if (scan.isObject !== true || !scan.isValid) {
        return UNREADABLE_ERROR
      }
      const { edits } = new ReplyScan({ hidden: hiddenInRefusal(this.#hidden) }).push(data)
      return this.#withoutCredentials(editEvent(event, edits))
    }
    if (scan.isObject !== true) {
      this.#hasBegun = true
      return this.#withoutCredentials(editEvent(event, scan.edits))
    }
    this.#keepUsage(scan.reportedUsage)
    if (scan.hasChoices) {
      this.#readChoices(scan)
    } else if (scan.hasUsage) {
      if (!this.#relaysUsage) {
        return ''
      }
    } else if (scan.listCode === undefined || !scan.isOver) {
      // Some upstreams report errors in forms of their own.
      this.#hasBegun = true
      return this.#withoutCredentials(editEvent(event, scan.edits))
    }
    const isShown = scan.edits.some(({ cost }) => cost !== undefined)
    return editEvent(event, editsWithCost(scan.edits, isShown ? this.#cost() : undefined))
  }

  /** What is billed for the usage so far, and stays the bill if no other usage comes. */
  #cost(): Microcredits | undefined {
    const { usage } = this
    return this.#relaysUsage && usage !== undefined ? this.#costOf(usage) : undefined
  }

  /** Zeros do not take the place of a usage that says something. */
  #keepUsage(reported: unknown): void {
    const usage = readTokenUsage(reported)
    this.#usage = believedUsage(usage, this.#usage !== undefined) ?? this.#usage
  }

  #readChoices(scan: ChatScan): void {
    this.#unfinished -= scan.finished
    this.#state = this.#unfinished <= 0 ? 'finished' : 'open'
    this.#hasChoices = true
    this.#hasGenerated ||= scan.hasGenerated
    if (this.#hasGenerated) {
      this.#relayedTextBytes += scan.generatedBytes
    }
    this.#hasBegun ||= this.#hasGenerated || scan.finished > 0
  }
}
