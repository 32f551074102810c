import { isJsonObject, type JsonObject, parsedOrUndefined } from '../json/parse-json-text.ts'
import type { ToolNames } from './tool-names.ts'

/** Finish reasons, by the stop reason of the message. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

function finishReasonOf(stopReason: unknown): string {
  return FINISH_REASONS[String(stopReason)] ?? 'stop'
}

/** The usage of a message, whose input excludes the cache, as a chat reports it: with the cache inside. */
function chatUsage(usage: JsonObject): JsonObject {
  const countOf = (name: string) => (typeof usage[name] === 'number' ? usage[name] : 0)
  const cached_tokens = countOf('cache_read_input_tokens')
  const cache_write_tokens = countOf('cache_creation_input_tokens')
  const prompt_tokens = countOf('input_tokens') + cached_tokens + cache_write_tokens
  const completion_tokens = countOf('output_tokens')
  const split = isJsonObject(usage.cache_creation) ? { cache_creation: usage.cache_creation } : {}
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens, cache_write_tokens, ...split },
  }
}

function headOf({ id, model }: JsonObject, object: string, created: number): JsonObject {
  return { id: `chatcmpl-${String(id).replace(/^msg_/, '')}`, object, created, model }
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
    blocks.flatMap((block) => (block.type === type ? [String(block[field] ?? '')] : [])).join('')
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name: names.toolOf(String(name)).name, arguments: JSON.stringify(input ?? {}) },
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
  #usage: JsonObject = {}
  #calls = -1
  /** Whether arguments came for the call that is open. */
  #hasArguments = true

  constructor(rules: Rules) {
    this.#rules = rules
  }

  /** @param data of one event. @returns the bytes of chat events, decoded. */
  event(data: string): string {
    const event = parsedOrUndefined(data)
    if (!isJsonObject(event)) {
      return ''
    }
    switch (event.type) {
      case 'message_start': {
        const message: JsonObject = isJsonObject(event.message) ? event.message : {}
        this.#head = headOf(message, 'chat.completion.chunk', this.#rules.created)
        this.#keepUsage(message.usage)
        return this.#chunk({ role: 'assistant', content: '' })
      }
      case 'content_block_start':
        return this.#begin(isJsonObject(event.content_block) ? event.content_block : {})
      case 'content_block_delta':
        return this.#delta(isJsonObject(event.delta) ? event.delta : {})
      case 'content_block_stop':
        return this.#hasArguments ? '' : this.#argumentsOf('{}')
      case 'message_delta':
        this.#keepUsage(event.usage)
        return this.#finish(isJsonObject(event.delta) ? event.delta : {})
      case 'message_stop':
        return `${chatEvent({ ...this.#head, choices: [], usage: chatUsage(this.#usage) })}data: [DONE]\n\n`
      case 'error':
        return chatEvent(errorOf(event))
      default:
        return ''
    }
  }

  /** Later counts replace earlier ones; a zero stands for a count that is left out. */
  #keepUsage(usage: unknown): void {
    const counts = Object.entries(isJsonObject(usage) ? usage : {}).filter(
      ([name, value]) => value !== null && !(value === 0 && this.#usage[name] !== undefined),
    )
    this.#usage = { ...this.#usage, ...Object.fromEntries(counts) }
  }

  #chunk(delta: JsonObject, finish_reason: string | null = null): string {
    return chatEvent({ ...this.#head, choices: [{ index: 0, delta, finish_reason }] })
  }

  #begin({ type, id, name, text }: JsonObject): string {
    if (type === 'text' && typeof text === 'string' && text !== '') {
      return this.#chunk({ content: text })
    }
    if (type !== 'tool_use') {
      return ''
    }
    this.#calls += 1
    this.#hasArguments = false
    const called = { name: this.#rules.names.toolOf(String(name)).name, arguments: '' }
    return this.#chunk({ tool_calls: [{ index: this.#calls, id, type: 'function', function: called }] })
  }

  #delta({ type, text, thinking, partial_json: json }: JsonObject): string {
    switch (type) {
      case 'text_delta':
        return this.#chunk({ content: text })
      case 'thinking_delta':
        return this.#chunk({ reasoning_content: thinking })
      case 'input_json_delta':
        return json === '' ? '' : this.#argumentsOf(String(json))
      default:
        return ''
    }
  }

  #argumentsOf(text: string): string {
    this.#hasArguments = true
    return this.#chunk({ tool_calls: [{ index: this.#calls, function: { arguments: text } }] })
  }

  #finish({ stop_reason: reason }: JsonObject): string {
    return reason == null ? '' : this.#chunk({}, finishReasonOf(reason))
  }
}

function chatEvent(chunk: JsonObject): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}
