import { MESSAGES_ERRORS } from '#core/api/error-form.ts'
import { hiddenInEvent } from '#core/catalogue/hidden-fields.ts'
import { CLOSE_BRACE, OPEN_BRACE, QUOTE } from '#core/json/json-scanner.ts'
import { parsedOrUndefined } from '#core/json/parse-json-text.ts'
import type { Microcredits } from '#core/money.ts'
import { MessageUsage } from '#core/pricing/message-usage.ts'
import type { TokenCounts } from '#core/pricing/token-usage.ts'
import { EventStream, type StreamRules } from '#core/relay/event-stream.ts'
import {
  ELSEWHERE,
  ENTRY,
  editsWithCost,
  INSIDE,
  isList,
  LIST,
  type ReplyRules,
  ReplyScan,
  TOP,
} from '#core/relay/reply-scan.ts'
import { editEvent, type SseEvent } from '#core/relay/sse-events.ts'
import { messageEvents } from '#core/translate/message-events.ts'
import { NativeReplyReader } from './agent-calls.ts'

/** Blocks that begin empty. Any other one may come whole with its first event. */
const EMPTY_BLOCKS: ReadonlySet<string> = new Set(['text', 'thinking', 'tool_use'])

/** The fields of a delta that hold what a model generates. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'partial_json', 'thinking'])

/** A `content_block`. */
const BLOCK = 6

/** Reads a message, or one event of its stream, of which the first one holds the message in a field. */
class MessagesScan extends ReplyScan {
  /** Of an event. */
  type = ''
  blockType = ''
  /** Bytes of the delta of an event. */
  deltaBytes = 0
  /** Whether an event has a delta other than text. */
  hasOtherDelta = false
  #isInMessage = false

  constructor({ publicModel, hidden }: ReplyRules) {
    super({ hidden: hiddenInEvent(hidden, 'message'), modelJson: JSON.stringify(publicModel), list: 'content' })
  }

  protected override begin(place: number, name: string, code: number): number {
    if (place === TOP && code === OPEN_BRACE) {
      if (name === 'message') {
        this.#isInMessage = true
        return TOP
      }
      return name === 'delta' ? INSIDE : name === 'content_block' ? BLOCK : ELSEWHERE
    }
    return place === LIST && isList(this.listCode) && code === OPEN_BRACE ? ENTRY : ELSEWHERE
  }

  protected override ended(place: number, name: string, isEmpty: boolean): void {
    const { code, start, end, text = '' } = this.scanner
    if (place === TOP) {
      if (name === 'message' && code === CLOSE_BRACE) {
        this.#isInMessage = false
      } else if (name === 'type' && !this.#isInMessage) {
        this.type = text.slice(1, -1)
      }
    } else if (place === BLOCK && name === 'type') {
      this.blockType = text.slice(1, -1)
    } else if (place === INSIDE && name !== 'type' && !isEmpty) {
      if (TEXTS.has(name) && code === QUOTE) {
        this.deltaBytes += end - start - 2
      } else {
        this.hasOtherDelta = true
      }
    }
  }
}

/** Reads a whole message of an upstream with this API. */
export function messagesReplyReader(rules: ReplyRules): NativeReplyReader {
  return new NativeReplyReader(new MessagesScan(rules), { list: 'content', events: messageEvents })
}

type Options = StreamRules & { readonly costOf: (usage: TokenCounts) => Microcredits | undefined }

/** Relays the stream of an upstream with this API: all events as they are, but for the model, what is hidden, and the cost. */
export class MessagesStream extends EventStream<TokenCounts, MessagesScan> {
  readonly #costOf: Options['costOf']
  readonly #usage = new MessageUsage()
  #hasMessage = false

  constructor({ costOf, ...rules }: Options) {
    super(rules, MESSAGES_ERRORS)
    this.#costOf = costOf
  }

  get usage(): TokenCounts | undefined {
    return this.#usage.counts(this.hasGenerated)
  }

  protected newScan(): MessagesScan {
    return new MessagesScan(this.rules)
  }

  /** Only the last event ends a stream. */
  protected override get isAtEnd(): boolean {
    return false
  }

  protected override readDone(): string {
    return ''
  }

  protected keepUsage({ usage }: MessagesScan): void {
    this.#usage.add(parsedOrUndefined(usage))
  }

  protected read(event: SseEvent, scan: MessagesScan): string {
    const { type } = scan
    if (type === 'error') {
      return this.fail(event, scan)
    }
    this.isAtWork = true
    switch (type) {
      case 'message_start':
        this.#hasMessage = true
        this.#usage.begin(parsedOrUndefined(scan.usage))
        break
      case 'content_block_stop':
      case 'ping':
        break
      case 'message_delta':
        this.keepUsage(scan)
        this.hasBegun = true
        break
      case 'message_stop':
        this.keepUsage(scan)
        this.#usage.end()
        this.hasBegun ||= this.#hasMessage
        this.state = 'done'
        break
      case 'content_block_start':
        this.#generated(!EMPTY_BLOCKS.has(scan.blockType))
        break
      case 'content_block_delta':
        this.#generated(scan.deltaBytes > 0 || scan.hasOtherDelta)
        this.relayedTextBytes += scan.deltaBytes
        this.#usage.generated(scan.deltaBytes)
        break
      default:
        this.#generated(true)
    }
    const { usage } = this
    const cost = type === 'message_delta' && usage !== undefined ? this.#costOf(usage) : undefined
    return editEvent(event, editsWithCost(scan.edits, cost))
  }

  #generated(isSo: boolean): void {
    this.hasBegun ||= isSo
    this.hasGenerated ||= isSo
  }
}
