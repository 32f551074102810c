import { OPENAI_ERRORS } from '#core/api/error-form.ts'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import { replaceFields } from '#core/json/json-fields.ts'
import { CLOSE_BRACE, OPEN_BRACE, QUOTE } from '#core/json/json-scanner.ts'
import { parsedOrUndefined } from '#core/json/parse-json-text.ts'
import type { Microcredits } from '#core/money.ts'
import { believedUsage, readTokenUsage, type TokenCounts } from '#core/pricing/token-usage.ts'
import { EventStream, type StreamRules } from '#core/relay/event-stream.ts'
import {
  ELSEWHERE,
  ENTRY,
  editsWithCost,
  INSIDE,
  isList,
  LIST,
  ReplyScan,
  TOP,
  USAGE_MAX,
} from '#core/relay/reply-scan.ts'
import { editEvent, type SseEvent } from '#core/relay/sse-events.ts'

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

/** A message or a delta of a choice. */
const MESSAGE = 6

/**
 * Fields of a choice, its message or its delta that hold nothing that a model generated. Any other field that is not empty
 * counts, so that nothing that an upstream may bill is overlooked.
 */
const NOT_GENERATED: ReadonlySet<string> = new Set([
  'index',
  'role',
  'logprobs',
  'finish_reason',
  'native_finish_reason',
  'stop_reason',
  'content_filter_results',
  'content_filter_offsets',
])

/** The fields that hold most of what a model generates. */
const TEXTS: ReadonlySet<string> = new Set(['content', 'arguments', 'reasoning_content', 'reasoning', 'refusal'])

/** Bytes of the choices of a chunk around what was generated: index, role, empty text, reasons that are null. */
const EMPTY_CHOICES_BYTES = 100

/** Reads a chat reply, or one chunk of a stream, for its bill: what was generated, how it ended, and its usage. */
export class ChatScan extends ReplyScan {
  /** Whether any choice has a message, even an empty one. */
  hasMessage = false
  /** Choices that have their finish reason. */
  finished = 0
  /** Whether there are choices: anything but null and an empty list. */
  hasChoices = false
  #hasGenerated = false
  #textBytes = 0
  #choicesStart = 0
  #choicesBytes = 0
  #choiceUsage: string | undefined

  /**
   * Whether the choices hold anything that was generated. A first chunk often has the role alone, beside strings and lists that are empty
   * or null. Choices that cannot be read count as generated: an upstream may bill them.
   */
  get hasGenerated(): boolean {
    return this.#hasGenerated || (this.listCode !== undefined && !this.scanner.isValid)
  }

  /** Bytes that were generated. A field of another name than most is counted with some of the syntax around it. */
  get generatedBytes(): number {
    return this.#textBytes > 0 ? this.#textBytes : Math.max(0, this.#choicesBytes - EMPTY_CHOICES_BYTES)
  }

  get hasUsage(): boolean {
    return this.usage !== undefined && this.usage !== 'null'
  }

  /** What the upstream reports: beside the choices, or in the first of them, as Moonshot does in streams. */
  get reportedUsage(): unknown {
    return parsedOrUndefined(this.usage) ?? parsedOrUndefined(this.#choiceUsage)
  }

  protected override begin(place: number, name: string, code: number): number {
    switch (place) {
      case TOP:
        if (name === 'choices') {
          this.#beginChoices()
        }
        return ELSEWHERE
      case LIST:
        return code === OPEN_BRACE && isList(this.listCode) ? ENTRY : INSIDE
      case ENTRY:
        return this.#beginField(name, code)
      default:
        return name === 'logprobs' ? ELSEWHERE : INSIDE
    }
  }

  protected override ended(place: number, name: string, isEmpty: boolean): void {
    const { code, start, end } = this.scanner
    if (place === TOP) {
      if (name === 'choices') {
        this.#choicesBytes = end - this.#choicesStart
        this.hasChoices = isList(this.listCode) ? !isEmpty : this.scanner.text !== 'null'
        this.#hasGenerated ||= !isList(this.listCode) && !isEmpty
      }
      return
    }
    const isObject = code === CLOSE_BRACE
    if (place === LIST) {
      this.#hasGenerated ||= !isObject && !isEmpty
      return
    }
    if (place !== INSIDE && !isEmpty && !NOT_GENERATED.has(name)) {
      this.#hasGenerated ||= !(isObject && place === ENTRY && isMessage(name))
    }
    if (place === ENTRY && name === 'usage' && this.entries === 1) {
      this.#choiceUsage = this.scanner.endCapture()
    }
    if (code === QUOTE) {
      this.finished += name === 'finish_reason' ? 1 : 0
      this.#textBytes += TEXTS.has(name) ? end - start - 2 : 0
    }
  }

  #beginChoices(): void {
    this.hasMessage = false
    this.hasChoices = false
    this.finished = 0
    this.#hasGenerated = false
    this.#textBytes = 0
    this.#choiceUsage = undefined
    this.#choicesStart = this.scanner.start
  }

  #beginField(name: string, code: number): number {
    if (name === 'usage' && this.entries === 1) {
      this.scanner.capture(USAGE_MAX)
    }
    if (isMessage(name) && code === OPEN_BRACE) {
      this.hasMessage ||= name === 'message'
      return MESSAGE
    }
    return name === 'logprobs' ? ELSEWHERE : INSIDE
  }
}

function isMessage(name: string): boolean {
  return name === 'message' || name === 'delta'
}

type Options = StreamRules & {
  /** Whether the client asked for the chunk that holds nothing but the usage; the upstream is always asked. */
  readonly relaysUsage: boolean
  /** Choices of the reply (`n`), each of which ends with a finish reason. */
  readonly choices: number
  /** The cost to show in a usage that the client asked for; undefined where nothing is billed. */
  readonly costOf: (usage: TokenCounts) => Microcredits | undefined
}

/** Relays a chat stream, with the cost in a usage that the client asked for. */
export class ChatStream extends EventStream<TokenCounts, ChatScan> {
  readonly #options: Options
  readonly #modelJson: string
  #unfinished: number
  #usage: TokenCounts | undefined

  constructor(options: Options) {
    super(options, OPENAI_ERRORS)
    this.#options = options
    this.#modelJson = JSON.stringify(options.publicModel)
    this.#unfinished = options.choices
  }

  /** The last usage that was not null; never a sum, because some upstreams report a running total on every chunk. */
  get usage(): TokenCounts | undefined {
    return believedUsage(this.#usage, this.hasGenerated)
  }

  protected newScan(): ChatScan {
    return new ChatScan({ hidden: this.rules.hidden, modelJson: this.#modelJson, list: 'choices' })
  }

  /** Zeros do not take the place of a usage that says something. */
  protected keepUsage({ reportedUsage }: ChatScan): void {
    this.#usage = believedUsage(readTokenUsage(reportedUsage), this.#usage !== undefined) ?? this.#usage
  }

  protected read(event: SseEvent, scan: ChatScan): string {
    this.keepUsage(scan)
    if (scan.hasChoices) {
      this.#readChoices(scan)
    } else if (scan.hasUsage) {
      if (!this.#options.relaysUsage) {
        return ''
      }
    } else if (scan.listCode === undefined || !scan.isOver) {
      return this.relayUnknown(event, scan)
    }
    const isShown = scan.edits.some(({ cost }) => cost !== undefined)
    return editEvent(event, editsWithCost(scan.edits, isShown ? this.#cost() : undefined))
  }

  /** What is billed for the usage so far, and stays the bill if no other usage comes. */
  #cost(): Microcredits | undefined {
    const { usage } = this
    const { relaysUsage, costOf } = this.#options
    return relaysUsage && usage !== undefined ? costOf(usage) : undefined
  }

  #readChoices(scan: ChatScan): void {
    this.#unfinished -= scan.finished
    this.state = this.#unfinished <= 0 ? 'finished' : 'open'
    this.isAtWork = true
    this.hasGenerated ||= scan.hasGenerated
    if (this.hasGenerated) {
      this.relayedTextBytes += scan.generatedBytes
    }
    this.hasBegun ||= this.hasGenerated || scan.finished > 0
  }
}
