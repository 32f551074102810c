import { type ErrorFacts, RESPONSES_ERRORS } from '#core/api/error-form.ts'
import { hiddenInEvent } from '#core/catalogue/hidden-fields.ts'
import { CLOSE_BRACE, OPEN_BRACE, QUOTE } from '#core/json/json-scanner.ts'
import { isJsonObject, type JsonObject, parsedOrUndefined, parseJsonObject } from '#core/json/parse-json-text.ts'
import type { Microcredits } from '#core/money.ts'
import { believedUsage, readTokenUsage, type TokenCounts } from '#core/pricing/token-usage.ts'
import { EventStream, type StreamRules } from '#core/relay/event-stream.ts'
import {
  ELSEWHERE,
  ENTRY,
  editsWithCost,
  isList,
  LIST,
  type ReplyRules,
  ReplyScan,
  TOP,
} from '#core/relay/reply-scan.ts'
import { editEvent, type SseEvent } from '#core/relay/sse-events.ts'
import { failedResponseEvent, responseEvents } from '#core/translate/response-events.ts'
import { NativeReplyReader } from './agent-calls.ts'

/** Events before the first output, which bind no client to their upstream. */
const OPENING: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.output_item.added',
  'response.content_part.added',
  'response.reasoning_summary_part.added',
  'keepalive',
  'ping',
])

/** The fields of an item that hold what a model generates. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'refusal', 'arguments', 'input'])

/** The item of an event, and whatever is in it. */
const ITEM = 6

/** Reads a response, or one event of its stream, which holds the response in a field. */
class ResponsesScan extends ReplyScan {
  /** Of an event. */
  type = ''
  /** Bytes of the delta of an event. */
  deltaBytes = 0
  /** Bytes of the texts in the item of an event. */
  itemBytes = 0
  sequenceNumber: number | undefined
  /** Whether the response says that it failed. */
  hasFailed = false
  /** Whether the event holds a response. */
  hasResponse = false
  #isInResponse = false

  constructor({ publicModel, hidden }: ReplyRules) {
    super({ hidden: hiddenInEvent(hidden, 'response'), modelJson: JSON.stringify(publicModel), list: 'output' })
  }

  protected override begin(place: number, name: string, code: number): number {
    if (place === TOP && name === 'response' && code === OPEN_BRACE) {
      this.#isInResponse = true
      this.hasResponse = true
      return TOP
    }
    if (place === ITEM || (place === TOP && name === 'item' && !this.#isInResponse)) {
      return ITEM
    }
    return place === LIST && isList(this.listCode) && code === OPEN_BRACE ? ENTRY : ELSEWHERE
  }

  protected override ended(place: number, name: string): void {
    const { code, start, end, text = '' } = this.scanner
    if (place === ITEM && code === QUOTE && TEXTS.has(name)) {
      this.itemBytes += end - start - 2
    }
    if (place !== TOP) {
      return
    }
    if (name === 'response' && code === CLOSE_BRACE) {
      this.#isInResponse = false
      this.hasFailed = this.hasError
      this.hasError = false
    } else if (this.#isInResponse) {
      return
    } else if (name === 'type') {
      this.type = text.slice(1, -1)
    } else if (name === 'delta' && code === QUOTE) {
      this.deltaBytes = end - start - 2
    } else if (name === 'sequence_number') {
      this.sequenceNumber = Number(text)
    }
  }
}

/** Reads a whole response of an upstream with this API. */
export function responsesReplyReader(rules: ReplyRules): NativeReplyReader {
  return new NativeReplyReader(new ResponsesScan(rules), { list: 'output', events: responseEvents })
}

/** More of a stream is not kept for the event that would end it early. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024

type Options = StreamRules & { readonly costOf: (usage: TokenCounts) => Microcredits | undefined }

/** Relays the stream of an upstream with this API: all events as they are, but for the model, what is hidden, and the cost. */
export class ResponsesStream extends EventStream<TokenCounts, ResponsesScan> {
  /** The first events repeat the request, which may be long. */
  readonly heldBytesMax = 1024 * 1024
  readonly #costOf: Options['costOf']
  #usage: TokenCounts | undefined
  #nextNumber = 0
  /** Bytes of the texts in finished items. */
  #doneBytes = 0
  /** The first event, and those of finished items, as they were relayed. */
  #kept: string[] = []
  #keptBytes = 0

  constructor({ costOf, ...rules }: Options) {
    super(rules, RESPONSES_ERRORS)
    this.#costOf = costOf
  }

  get usage(): TokenCounts | undefined {
    return believedUsage(this.#usage, this.hasGenerated)
  }

  /** The last event of a stream that breaks off: the response has failed, with the items that were finished. */
  failure(error: ErrorFacts): string {
    const events = this.#kept.map((data) => parseJsonObject(Buffer.from(data, 'latin1').toString('utf8')))
    const begun = events.map((event) => event?.response).find(isJsonObject)
    const output = events.map((event) => event?.item).filter(isJsonObject)
    return failedResponseEvent({ ...begun, ...modelOf(this.rules, begun), output }, error, this.#nextNumber)
  }

  protected newScan(): ResponsesScan {
    return new ResponsesScan(this.rules)
  }

  /** Only the last event ends a stream. */
  protected override get isAtEnd(): boolean {
    return false
  }

  /** OpenAI sends none, and others send it after the last event. */
  protected override readDone(): string {
    return ''
  }

  protected keepUsage({ usage }: ResponsesScan): void {
    this.#usage = readTokenUsage(parsedOrUndefined(usage)) ?? this.#usage
  }

  protected read(event: SseEvent, scan: ResponsesScan): string {
    const { type } = scan
    if (type === 'error') {
      return this.fail(event, scan)
    }
    this.isAtWork = true
    if (scan.sequenceNumber !== undefined) {
      this.#nextNumber = scan.sequenceNumber + 1
    }
    const isFailed = type === 'response.failed'
    const isLast = isFailed || type === 'response.completed' || type === 'response.incomplete'
    if (isLast) {
      this.keepUsage(scan)
      this.state = isFailed ? 'failed' : 'done'
      this.hasBegun ||= !isFailed
    } else if (!OPENING.has(type) && !(type.endsWith('.delta') && scan.deltaBytes === 0)) {
      this.hasBegun = true
      this.hasGenerated = true
      this.relayedTextBytes += scan.deltaBytes
    }
    if (type === 'response.output_item.done') {
      // Some upstreams send items whole, without deltas.
      this.#doneBytes += scan.itemBytes
      this.relayedTextBytes = Math.max(this.relayedTextBytes, this.#doneBytes)
    }
    const cost = isLast && this.usage !== undefined ? this.#costOf(this.usage) : undefined
    const relayed = editEvent(event, editsWithCost(scan.edits, cost))
    if (type === 'response.created' || type === 'response.output_item.done') {
      this.#keep(relayed)
    }
    return isFailed ? this.rules.withoutCredentials(relayed) : relayed
  }

  #keep(relayed: string): void {
    const data = relayed.slice(relayed.indexOf('{'), relayed.lastIndexOf('}') + 1)
    this.#keptBytes += data.length
    if (this.#keptBytes <= KEPT_BYTES_MAX) {
      this.#kept.push(data)
    }
  }
}

/** A response that never began still names its model. */
function modelOf({ publicModel }: ReplyRules, begun: JsonObject | undefined): JsonObject {
  return begun === undefined ? { model: publicModel } : {}
}
