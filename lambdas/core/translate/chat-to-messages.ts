import { type ErrorFacts, MESSAGES_ERRORS } from '../api/error-form.ts'
import { isJsonObject, type JsonObject, parsedOrUndefined } from '../json/parse-json-text.ts'
import { costNumber } from '../relay/reply-scan.ts'
import { type CallDelta, ChatDeltaReader, NO_NAME } from './chat-deltas.ts'
import type { ChatTranslator, ShownUsage } from './chat-translator.ts'
import { messageEvent } from './message-events.ts'
import { ObjectEnd } from './object-end.ts'
import { plainId, type ToolNames } from './tool-names.ts'

/** The head of a message. */
export type MessageHead = {
  /** Digits and letters, from which all ids are made. */
  readonly seed: string
  readonly publicModel: string
}

type BlockKind = 'text' | 'thinking' | 'tool_use'

/** A block, as far as it has come. Only the first one that is not closed is sent; what comes for the others waits. */
type Block = {
  readonly kind: BlockKind
  readonly id: string
  name: string
  /** All that came. */
  readonly pieces: string[]
  /** What was not sent. */
  waiting: string
  isOpen: boolean
  /** Where the arguments of a call end. */
  readonly object: ObjectEnd
}

/** Marks thinking of an upstream that signs none, so that a client that sends it back is understood. */
const SIGNATURE = 'cmVlbGdhdGU='

/** Stop reasons, by the finish reason of the chat. */
const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  content_filter: 'refusal',
}

const BAD_ARGUMENTS = 'the upstream called a tool with arguments that are no JSON object'

/** Translates chat chunks to the events of a message, whose blocks follow each other. */
export class MessageTranslator implements ChatTranslator {
  hasBegun = false
  problem: string | undefined
  readonly #head: MessageHead
  readonly #names: ToolNames
  readonly #deltas = new ChatDeltaReader()
  readonly #blocks: Block[] = []
  readonly #calls = new Map<string, Block>()
  /** Blocks that are closed: the index of the one that is sent. */
  #closed = 0
  #finishReason: string | undefined
  #hasRefused = false
  #reply: JsonObject = {}

  constructor(head: MessageHead, names: ToolNames) {
    this.#head = head
    this.#names = names
  }

  get reply(): JsonObject {
    return this.#reply
  }

  chunk(chunk: JsonObject): string {
    const { text, reasoning, refusal, calls, finishReason } = this.#deltas.read(chunk)
    this.#finishReason = finishReason ?? this.#finishReason
    this.#hasRefused ||= refusal !== ''
    this.#addText('thinking', reasoning)
    this.#addText('text', text + refusal)
    for (const call of calls) {
      this.#addCall(call)
    }
    return this.#send(false)
  }

  end({ counts, cost }: ShownUsage): string {
    const events = this.#send(true)
    if (this.problem !== undefined) {
      return events
    }
    const usage = {
      input_tokens: counts?.input ?? 0,
      cache_creation_input_tokens: (counts?.cacheWrite ?? 0) + (counts?.cacheWrite1h ?? 0),
      cache_read_input_tokens: (counts?.cachedInput ?? 0) + (counts?.cachedInputExplicit ?? 0),
      output_tokens: counts?.output ?? 0,
      ...(cost === undefined ? {} : { cost: costNumber(cost) }),
    }
    const stop_reason = this.#stopReason()
    this.#reply = this.#message({ content: this.#blocks.map(writtenBlock), stop_reason, usage })
    return [
      events,
      this.#begin(),
      messageEvent('message_delta', { delta: { stop_reason, stop_sequence: null }, usage }),
      messageEvent('message_stop'),
    ].join('')
  }

  fail(error: ErrorFacts): string {
    return MESSAGES_ERRORS.event(MESSAGES_ERRORS.body(error))
  }

  /** The limit of the output may cut a call in the middle of its arguments. */
  get #isCut(): boolean {
    return this.#finishReason === 'length'
  }

  #stopReason(): string {
    if (this.#calls.size > 0 && !this.#isCut) {
      return 'tool_use'
    }
    return this.#hasRefused ? 'refusal' : (STOP_REASONS[this.#finishReason ?? 'stop'] ?? 'end_turn')
  }

  /** The first event comes with the first output. */
  #begin(): string {
    if (this.hasBegun) {
      return ''
    }
    this.hasBegun = true
    return messageEvent('message_start', { message: this.#message({}) })
  }

  #message(fields: JsonObject): JsonObject {
    return {
      id: `msg_${this.#head.seed}`,
      type: 'message',
      role: 'assistant',
      model: this.#head.publicModel,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
      ...fields,
    }
  }

  #addText(kind: 'text' | 'thinking', piece: string): void {
    if (piece !== '') {
      const last = this.#blocks.at(-1)
      addTo(last?.kind === kind ? last : this.#add(kind, ''), piece)
    }
  }

  #addCall({ key, id, name, arguments: piece }: CallDelta): void {
    const known = this.#calls.get(key)
    const block = known ?? this.#add('tool_use', plainId(id ?? `call_${this.#head.seed}_${key}`))
    this.#calls.set(key, block)
    block.name ||= name === undefined ? '' : this.#names.toolOf(name).name
    addTo(block, piece)
  }

  #add(kind: BlockKind, id: string): Block {
    const block: Block = { kind, id, name: '', pieces: [], waiting: '', isOpen: false, object: new ObjectEnd() }
    this.#blocks.push(block)
    return block
  }

  /** Sends what can be sent: a block is closed when another one has come and nothing of it can be missing. */
  #send(isEnd: boolean): string {
    let events = ''
    for (let block = this.#blocks[this.#closed]; block !== undefined; block = this.#blocks[this.#closed]) {
      events += this.#sendWaiting(block)
      const isLast = this.#closed === this.#blocks.length - 1
      if (this.problem !== undefined || !(isEnd || (!isLast && isComplete(block)))) {
        return events
      }
      events += this.#close(block)
      if (this.problem !== undefined) {
        return events
      }
    }
    return events
  }

  #sendWaiting(block: Block): string {
    const { kind, waiting } = block
    // Arguments that turn out to be null or white space are the empty object, which has no delta.
    const isDue = kind === 'tool_use' ? block.name !== '' && block.object.hasBegun : waiting !== ''
    if (!isDue) {
      return ''
    }
    const opened = this.#open(block)
    block.waiting = ''
    const index = this.#closed
    return waiting === ''
      ? opened
      : opened + messageEvent('content_block_delta', { index, delta: deltaOf(kind, waiting) })
  }

  #problemOf(call: Block): string | undefined {
    if (call.name === '') {
      return NO_NAME
    }
    return inputOf(call) === undefined && !this.#isCut ? BAD_ARGUMENTS : undefined
  }

  #open(block: Block): string {
    if (block.isOpen) {
      return ''
    }
    block.isOpen = true
    return (
      this.#begin() + messageEvent('content_block_start', { index: this.#closed, content_block: emptyBlock(block) })
    )
  }

  #close(block: Block): string {
    const index = this.#closed
    this.problem = block.kind === 'tool_use' ? this.#problemOf(block) : undefined
    if (this.problem !== undefined) {
      return this.fail({ statusCode: 502, message: this.problem, type: '', param: null, code: null })
    }
    const opened = this.#open(block)
    const delta = { type: 'signature_delta', signature: SIGNATURE }
    const signed = block.kind === 'thinking' ? messageEvent('content_block_delta', { index, delta }) : ''
    this.#closed += 1
    return opened + signed + messageEvent('content_block_stop', { index })
  }
}

function addTo(block: Block, piece: string): void {
  if (piece !== '') {
    block.pieces.push(piece)
    block.waiting += piece
    block.object.push(block.kind === 'tool_use' ? piece : '')
  }
}

/** The arguments of a call; undefined for what is no object. Nothing, and null, are the empty object. */
function inputOf({ pieces }: Block): JsonObject | undefined {
  const text = pieces.join('').trim()
  const value = text === '' || text === 'null' ? {} : parsedOrUndefined(text)
  return isJsonObject(value) ? value : undefined
}

function isComplete({ kind, name, object }: Block): boolean {
  return kind !== 'tool_use' || (name !== '' && object.hasEnded)
}

function deltaOf(kind: BlockKind, text: string): JsonObject {
  switch (kind) {
    case 'text':
      return { type: 'text_delta', text }
    case 'thinking':
      return { type: 'thinking_delta', thinking: text }
    default:
      return { type: 'input_json_delta', partial_json: text }
  }
}

function emptyBlock({ kind, id, name }: Block): JsonObject {
  switch (kind) {
    case 'text':
      return { type: 'text', text: '' }
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' }
    default:
      return { type: 'tool_use', id, name, input: {} }
  }
}

function writtenBlock(block: Block): JsonObject {
  const text = block.pieces.join('')
  switch (block.kind) {
    case 'text':
      return { type: 'text', text }
    case 'thinking':
      return { type: 'thinking', thinking: text, signature: SIGNATURE }
    default:
      return { type: 'tool_use', id: block.id, name: block.name, input: inputOf(block) ?? {} }
  }
}
