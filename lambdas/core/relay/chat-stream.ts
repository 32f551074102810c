import { hiddenInRefusal } from '../catalogue/hidden-fields.ts'
import { removalEdits } from '../json/remove-fields.ts'
import type { Microcredits } from '../money.ts'
import { believedUsage, readTokenUsage, type TokenCounts } from '../pricing/token-usage.ts'
import type { CredentialFilter } from '../redaction.ts'
import { usageOfChoiceJson } from './choice-usage.ts'
import { chunkMembers, parsedMember } from './chunk-members.ts'
import { editEvent } from './edit-event.ts'
import { generatedBytes, hasGeneratedJson } from './generated-choices.ts'
import { isHalfEvent } from './half-event.ts'
import { type ReplyRules, replyEdits, type WrittenRules, writtenRules } from './reply-members.ts'
import { type SseEvent, SseEventReader } from './sse-events.ts'

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

/**
 * Relays a chat stream: bytes in, bytes out, one character for each byte. Whole events are relayed unchanged but for the
 * public model id, what is hidden, and the cost in a usage that the client asked for; usage, end and error are kept for the
 * settlement.
 */
export class ChatStream {
  readonly #reader = new SseEventReader()
  readonly #rules: WrittenRules
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
    this.#rules = writtenRules({ publicModel, hidden })
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

  /** What to relay for a chunk of the upstream; empty while an event is not complete. @throws EndlessEventError */
  push(bytes: string): string {
    let output = ''
    for (const event of this.#reader.push(bytes)) {
      output += this.#relay(event)
    }
    return output
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

  #relay(event: SseEvent): string {
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
    return this.#relayChunk(event, event.data)
  }

  /** An empty reply is valid if it has a usage. */
  #judgeEnd(): void {
    this.#hasBegun ||= this.#hasChoices && this.#usage !== undefined
  }

  #relayChunk(event: SseEvent, data: string): string {
    const members = chunkMembers(data, this.#rules)
    if (members === undefined) {
      this.#hasBegun = true
      return event.raw
    }
    this.#keepUsage(parsedMember(members.usage) ?? usageOfChoiceJson(members.choices ?? ''))
    if (members.error !== undefined && members.error !== 'null') {
      this.#state = 'failed'
      const { edits } = removalEdits(data, 0, hiddenInRefusal(this.#rules.hidden))
      return this.#withoutCredentials(editEvent(event, edits))
    }
    const { choices } = members
    if (choices !== undefined && choices !== 'null' && !EMPTY_LIST.test(choices)) {
      this.#readChoices(choices)
    } else if (members.usage !== undefined && members.usage !== 'null') {
      if (!this.#relaysUsage) {
        return ''
      }
    } else if (choices === undefined) {
      this.#hasBegun = true
    }
    return editEvent(event, replyEdits(members, members.usages.length > 0 ? this.#cost() : undefined))
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

  #readChoices(choices: string): void {
    const finished = choices.match(FINISH_REASON)?.length ?? 0
    this.#unfinished -= finished
    this.#state = this.#unfinished <= 0 ? 'finished' : 'open'
    this.#hasChoices = true
    this.#hasGenerated ||= hasGeneratedJson(choices)
    if (this.#hasGenerated) {
      this.#relayedTextBytes += generatedBytes(choices)
    }
    this.#hasBegun ||= this.#hasGenerated || finished > 0
  }
}

const EMPTY_LIST = /^\[\s*\]$/

/** No string inside JSON contains this, because its quotes would be escaped. */
const FINISH_REASON = /"finish_reason"\s*:\s*"/g
