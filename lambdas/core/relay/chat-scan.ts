import { CLOSE_BRACE, OPEN_BRACE, QUOTE } from '../json/json-scanner.ts'
import { parsedOrUndefined } from '../json/parse-json-text.ts'
import { ELSEWHERE, ENTRY, INSIDE, isList, LIST, ReplyScan, TOP, USAGE_MAX } from './reply-scan.ts'

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
