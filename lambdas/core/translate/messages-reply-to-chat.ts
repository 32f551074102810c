import { isJsonObject, type JsonObject, parsedOrUndefined } from '../json/parse-json-text.ts'
import { MessageUsage } from '../pricing/message-usage.ts'
import type { TokenCounts } from '../pricing/token-usage.ts'
import type { ToolNames } from './tool-names.ts'

/** Finish reasons, by the stop reason of the message. */
const FINISH_REASONS: ReadonlyMap<unknown, string> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

function finishReasonOf(stopReason: unknown): string {
  return FINISH_REASONS.get(stopReason) ?? 'stop'
}

/** An upstream may send anything where a text belongs, even what no text can be made of. */
function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback
}

/**
 * The usage of a message, whose input excludes the cache, as a chat reports it: with the cache inside. A count that the upstream
 * left out stays out, because a zero would be believed.
 */
function chatUsage(usage: JsonObject): JsonObject {
  const countOf = (name: string) => (typeof usage[name] === 'number' ? usage[name] : undefined)
  const input = countOf('input_tokens')
  const cacheRead = countOf('cache_read_input_tokens')
  const cacheWrite = countOf('cache_creation_input_tokens')
  const cached_tokens = cacheRead ?? 0
  const cache_write_tokens = cacheWrite ?? 0
  // No prompt is empty.
  const prompt_tokens = (input ?? 0) + cached_tokens + cache_write_tokens || undefined
  const completion_tokens = countOf('output_tokens')
  const isWhole = prompt_tokens !== undefined && completion_tokens !== undefined
  const split = isJsonObject(usage.cache_creation) ? { cache_creation: usage.cache_creation } : {}
  return {
    ...(prompt_tokens === undefined ? {} : { prompt_tokens }),
    ...(completion_tokens === undefined ? {} : { completion_tokens }),
    ...(isWhole ? { total_tokens: prompt_tokens + completion_tokens } : {}),
    prompt_tokens_details: { cached_tokens, cache_write_tokens, ...split },
  }
}

/** Every chunk repeats the id. */
const PLAIN_ID = /^[A-Za-z0-9_.-]{1,128}$/

/** The model is empty, because its public id is written when the chat is read. */
function headOf({ id }: JsonObject, object: string, created: number): JsonObject {
  const own = typeof id === 'string' && PLAIN_ID.test(id) ? id.replace(/^msg_/, '') : newId()
  return { id: `chatcmpl-${own}`, object, created, model: '' }
}

function newId(): string {
  return crypto.randomUUID().replaceAll('-', '')
}

function callIdOf(id: unknown): string {
  return typeof id === 'string' ? id : `call_${newId()}`
}

function errorOf({ error }: JsonObject): JsonObject {
  const { type, message }: JsonObject = isJsonObject(error) ? error : {}
  return {
    error: {
      message: message ?? 'the upstream reported an error',
      type: type ?? 'server_error',
      param: null,
      code: null,
    },
  }
}

type Rules = {
  readonly names: ToolNames
  /** Unix seconds. */
  readonly created: number
}

/** A whole message as a chat completion; an error as that of a chat; undefined for anything else. */
export function messageToChat(message: JsonObject, { names, created }: Rules): JsonObject | undefined {
  if (message.type === 'error') {
    return errorOf(message)
  }
  if (!Array.isArray(message.content)) {
    return undefined
  }
  const blocks = message.content.filter(isJsonObject)
  const textOf = (type: string, field: string) =>
    blocks.flatMap((block) => (block.type === type ? [textOr(block[field], '')] : [])).join('')
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({
      id: callIdOf(id),
      type: 'function',
      function: { name: names.toolOf(textOr(name, '')).name, arguments: JSON.stringify(input ?? {}) },
    }))
  const text = textOf('text', 'text')
  const thinking = textOf('thinking', 'thinking')
  const said = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(thinking === '' ? {} : { reasoning_content: thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
  const finish_reason = finishReasonOf(message.stop_reason)
  return {
    ...headOf(message, 'chat.completion', created),
    choices: [{ index: 0, message: said, logprobs: null, finish_reason }],
    ...(isJsonObject(message.usage) ? { usage: chatUsage(message.usage) } : {}),
  }
}

/** Translates the events of a message to chunks of a chat stream. */
export class MessageEventTranslator {
  readonly #rules: Rules
  #head: JsonObject = {}
  readonly #usage = new MessageUsage()
  #hasFinished = false
  #isOver = false
  #calls = -1
  /** The arguments of the call that is open, for as long as none came in pieces. */
  #input: unknown

  constructor(rules: Rules) {
    this.#rules = rules
  }

  /** What is billed for the message so far. */
  counts(hasGenerated: boolean): TokenCounts | undefined {
    return this.#usage.counts(hasGenerated)
  }

  /** Bytes that were generated. */
  get textBytes(): number {
    return this.#usage.textBytes
  }

  /** @param data of one event. @returns the bytes of chat events, decoded. */
  event(data: string): string {
    const event = parsedOrUndefined(data)
    if (!isJsonObject(event) || this.#isOver) {
      return ''
    }
    switch (event.type) {
      case 'message_start': {
        const message: JsonObject = isJsonObject(event.message) ? event.message : {}
        this.#head = headOf(message, 'chat.completion.chunk', this.#rules.created)
        this.#usage.begin(message.usage)
        return this.#chunk({ role: 'assistant', content: '' })
      }
      case 'content_block_start':
        return this.#begin(isJsonObject(event.content_block) ? event.content_block : {})
      case 'content_block_delta':
        return this.#delta(isJsonObject(event.delta) ? event.delta : {})
      case 'content_block_stop':
        return this.#input === undefined ? '' : this.#argumentsOf(JSON.stringify(this.#input))
      case 'message_delta':
        this.#usage.add(event.usage)
        return this.#finish(isJsonObject(event.delta) ? event.delta : {})
      case 'message_stop':
        this.#usage.add(event.usage)
        this.#usage.end()
        return `${this.#last()}data: [DONE]\n\n`
      case 'error':
        this.#isOver = true
        return chatEvent(errorOf(event))
      default:
        return ''
    }
  }

  /** The last event of a message that is finished, but does not say so. */
  end(): string {
    return this.#hasFinished && !this.#isOver ? this.#last() : ''
  }

  #last(): string {
    this.#isOver = true
    return chatEvent({ ...this.#head, choices: [], usage: chatUsage(this.#usage.reported) })
  }

  #chunk(delta: JsonObject): string {
    return chatEvent({ ...this.#head, choices: [{ index: 0, delta, finish_reason: null }] })
  }

  #begin({ type, id, name, text, input }: JsonObject): string {
    if (type === 'text' && typeof text === 'string' && text !== '') {
      return this.#text('content', text)
    }
    if (type !== 'tool_use') {
      return ''
    }
    this.#calls += 1
    this.#input = input ?? {}
    const called = { name: this.#rules.names.toolOf(textOr(name, '')).name, arguments: '' }
    return this.#chunk({ tool_calls: [{ index: this.#calls, id: callIdOf(id), type: 'function', function: called }] })
  }

  #delta({ type, text, thinking, partial_json: json }: JsonObject): string {
    switch (type) {
      case 'text_delta':
        return this.#text('content', text)
      case 'thinking_delta':
        return this.#text('reasoning_content', thinking)
      case 'input_json_delta':
        return typeof json === 'string' && json !== '' ? this.#argumentsOf(json) : ''
      default:
        return ''
    }
  }

  #text(field: 'content' | 'reasoning_content', value: unknown): string {
    const text = textOr(value, '')
    this.#usage.generated(Buffer.byteLength(text))
    return this.#chunk({ [field]: text })
  }

  #argumentsOf(text: string): string {
    this.#input = undefined
    this.#usage.generated(Buffer.byteLength(text))
    return this.#chunk({ tool_calls: [{ index: this.#calls, function: { arguments: text } }] })
  }

  #finish({ stop_reason: reason }: JsonObject): string {
    if (reason == null) {
      return ''
    }
    this.#hasFinished = true
    const choices = [{ index: 0, delta: {}, finish_reason: finishReasonOf(reason) }]
    return chatEvent({ ...this.#head, choices })
  }
}

function chatEvent(chunk: JsonObject): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}
