import { closingQuote } from '../json-members.ts'
import { readAnswerMembers } from './answer-members.ts'
import { type SseEvent, SseEventReader } from './sse-events.ts'
import { type ChatUsage, readChatUsage } from './token-usage.ts'

/** How far a stream has come. Only `done` and `finished` are good ends. */
type StreamState =
  /** Pieces of an answer, or nothing yet. */
  | 'open'
  /** Every choice has its finish reason; `[DONE]` has not come. */
  | 'finished'
  /** `[DONE]` has come. */
  | 'done'
  /** The upstream has reported an error; nothing after it is relayed. */
  | 'failed'

type ChatStreamOptions = {
  readonly publicModel: string
  /** Whether the client asked for the chunk that holds nothing but the usage; the upstream is always asked. */
  readonly relaysUsage: boolean
  /** Choices that the answer has (`n`): so many finish reasons end it. */
  readonly choices: number
}

/**
 * The passage of a chat stream: bytes in, bytes out, one character for each byte. Whole events go on as they came, with the
 * public model id spliced in; what the stream says about itself (usage, end, error) is kept for the settlement.
 */
export class ChatStream {
  readonly #reader = new SseEventReader()
  readonly #modelJson: string
  readonly #relaysUsage: boolean
  #unfinished: number
  #state: StreamState = 'open'
  #usage: ChatUsage | undefined
  #relayedTextBytes = 0
  #hasData = false

  constructor({ publicModel, relaysUsage, choices }: ChatStreamOptions) {
    this.#modelJson = JSON.stringify(publicModel)
    this.#relaysUsage = relaysUsage
    this.#unfinished = choices
  }

  get state(): StreamState {
    return this.#state
  }

  /** Whether an event with data was relayed: comments alone are no answer. */
  get hasData(): boolean {
    return this.#hasData
  }

  /** The last usage that was no null; never a sum, because some upstreams report a running total on every chunk. */
  get usage(): ChatUsage | undefined {
    return this.#usage
  }

  /** Bytes of generated text so far: what there is to bill when an upstream breaks off without a usage. */
  get relayedTextBytes(): number {
    return this.#relayedTextBytes
  }

  /** What to send on for a chunk of the upstream; empty while an event is not complete. @throws EndlessEventError */
  push(bytes: string): string {
    let output = ''
    for (const event of this.#reader.push(bytes)) {
      output += this.#relay(event)
    }
    return output
  }

  /** What to send on when the upstream has ended: an event whose blank line is missing. */
  end(): string {
    const event = this.#reader.end()
    return event === undefined ? '' : this.#relay(event)
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
      this.#hasData = true
      return event.raw
    }
    const relayed = this.#relayChunk(event, event.data)
    this.#hasData ||= relayed !== ''
    return relayed
  }

  #relayChunk(event: SseEvent, data: string): string {
    const members = membersOf(data)
    if (members === undefined) {
      return event.raw
    }
    this.#usage = readChatUsage(parse(members.usage)) ?? this.#usage
    if (members.error !== undefined && members.error !== 'null') {
      this.#state = 'failed'
      return event.raw
    }
    const isUsageOnly = members.choices === '[]' && members.usage !== undefined && members.usage !== 'null'
    if (isUsageOnly && !this.#relaysUsage) {
      return ''
    }
    if (members.choices !== undefined && members.choices !== '[]') {
      this.#relayedTextBytes += generatedBytes(members.choices)
      this.#unfinished -= members.choices.match(FINISH_REASON)?.length ?? 0
      this.#state = this.#unfinished <= 0 ? 'finished' : 'open'
    }
    return members.model === undefined ? event.raw : this.#withModel(event, members.model)
  }

  #withModel({ raw, toRaw }: SseEvent, { start, end }: { start: number; end: number }): string {
    const from = toRaw(start)
    const to = from + end - start
    return raw.slice(from, to) === this.#modelJson ? raw : `${raw.slice(0, from)}${this.#modelJson}${raw.slice(to)}`
  }
}

/** Inside of a JSON text no string holds this, because its quotes would be escaped. */
const FINISH_REASON = /"finish_reason"\s*:\s*"/g

/** Where most of what a model generates begins: the opening quote of one of these members. */
const GENERATED = /"(?:content|arguments|reasoning_content|reasoning|refusal)"\s*:\s*"/g

/** Bytes of the choices of a chunk in which nothing was generated: index, role, empty text, reasons that are null. */
const EMPTY_CHOICES_BYTES = 100

/** What is generated under other names is counted with the syntax around it. */
function generatedBytes(choices: string): number {
  let bytes = 0
  for (const { index, 0: opening } of choices.matchAll(GENERATED)) {
    const start = index + opening.length
    bytes += closingQuote(choices, start - 1) - start
  }
  return bytes > 0 ? bytes : Math.max(0, choices.length - EMPTY_CHOICES_BYTES)
}

/** Undefined for data that is no JSON object: relayed like anything else that is not ours to judge. */
function membersOf(data: string): ReturnType<typeof readAnswerMembers> | undefined {
  try {
    return data.startsWith('{') || data.trimStart().startsWith('{') ? readAnswerMembers(data) : undefined
  } catch {
    return undefined
  }
}

function parse(json: string | undefined): unknown {
  if (json === undefined || json === 'null') {
    return undefined
  }
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
