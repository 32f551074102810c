import type { ErrorFacts } from '../api/error-form.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../json/parse-json-text.ts'
import { countedTokens, inputTokensOf } from '../pricing/token-usage.ts'
import { costNumber } from '../relay/reply-scan.ts'
import { type CallDelta, ChatDeltaReader, NO_NAME } from './chat-deltas.ts'
import type { ChatTranslator, ShownUsage } from './chat-translator.ts'
import { failedResponseEvent, ResponseEventWriter } from './response-events.ts'
import { CUSTOM_INPUT } from './responses-to-chat.ts'
import type { ToolName, ToolNames } from './tool-names.ts'

/** What a response repeats of its request, and its head. */
export type ResponseHead = {
  /** Digits and letters, from which all ids are made. */
  readonly seed: string
  /** Unix seconds. */
  readonly createdAt: number
  readonly publicModel: string
  /** The body of the request. */
  readonly body: JsonObject
}

/** A part of a message or of reasoning, as far as it has come. */
type Part = {
  readonly type: 'output_text' | 'refusal' | 'reasoning_text'
  readonly pieces: string[]
  readonly logprobs: unknown[]
  readonly annotations: JsonObject[]
}

/** An item of the output, as far as it has come. */
type Item = {
  readonly id: string
  readonly index: number
  readonly kind: 'message' | 'reasoning' | 'call'
  readonly parts: Part[]
  /** Of a call. */
  readonly tool: ToolName | undefined
  readonly callId: string
  readonly pieces: string[]
  isDone: boolean
}

/** The names of the events of each kind of part, and the field of its text. */
const EVENTS = {
  output_text: { event: 'response.output_text', field: 'text' },
  refusal: { event: 'response.refusal', field: 'refusal' },
  reasoning_text: { event: 'response.reasoning_text', field: 'text' },
} as const

/** Why a response is incomplete, by the finish reason of the chat. */
const INCOMPLETE: Readonly<Record<string, string>> = { length: 'max_output_tokens', content_filter: 'content_filter' }

/** Translates chat chunks to the events of a response. */
export class ResponseTranslator implements ChatTranslator {
  problem: string | undefined
  hasBegun = false
  readonly #head: ResponseHead
  readonly #names: ToolNames
  readonly #deltas = new ChatDeltaReader()
  readonly #writer = new ResponseEventWriter()
  readonly #items: Item[] = []
  /** Calls by their keys, and what came of a call before its name. */
  readonly #calls = new Map<string, Item | { waiting: string; callId: string | undefined }>()
  #message: Item | undefined
  #reasoning: Item | undefined
  #finishReason: string | undefined
  #reasoningTokens = 0
  #reply: JsonObject = {}

  constructor(head: ResponseHead, names: ToolNames) {
    this.#head = head
    this.#names = names
  }

  get reply(): JsonObject {
    return this.#reply
  }

  chunk(chunk: JsonObject): string {
    const { text, reasoning, refusal, calls, logprobs, annotations, finishReason, reasoningTokens } =
      this.#deltas.read(chunk)
    this.#finishReason = finishReason ?? this.#finishReason
    this.#reasoningTokens = reasoningTokens ?? this.#reasoningTokens
    let events = ''
    if (reasoning !== '') {
      this.#reasoning = this.#reasoning?.isDone === false ? this.#reasoning : undefined
      events += this.#begin()
      const [item, added] = this.#reasoning === undefined ? this.#add('reasoning') : [this.#reasoning, '']
      this.#reasoning = item
      events += added + this.#addText(item, 'reasoning_text', reasoning)
    }
    if (text !== '' || refusal !== '' || calls.length > 0) {
      events += this.#begin() + this.#close(this.#reasoning)
    }
    if (text !== '' || refusal !== '') {
      const [item, added] = this.#message === undefined ? this.#add('message') : [this.#message, '']
      this.#message = item
      events += added
      events += text === '' ? '' : this.#addText(item, 'output_text', text, logprobs)
      events += refusal === '' ? '' : this.#addText(item, 'refusal', refusal)
    }
    events += this.#addAnnotations(annotations)
    return events + calls.map((call) => this.#addCall(call)).join('')
  }

  end({ counts, cost }: ShownUsage): string {
    const reason = INCOMPLETE[this.#finishReason ?? '']
    // A reply that was cut may lack the name of its last call.
    if (reason === undefined && [...this.#calls.values()].some((call) => 'waiting' in call)) {
      this.problem = NO_NAME
      return this.fail({ statusCode: 502, message: NO_NAME, type: '', param: null, code: null })
    }
    const events = this.#begin() + this.#items.map((item) => this.#close(item, reason)).join('')
    const { cachedInputTokens, cacheWriteTokens } = counts ? countedTokens(counts) : NO_COUNTS
    const usage = counts && {
      input_tokens: inputTokensOf(counts),
      input_tokens_details: { cached_tokens: cachedInputTokens, cache_write_tokens: cacheWriteTokens },
      output_tokens: counts.output,
      output_tokens_details: { reasoning_tokens: Math.min(this.#reasoningTokens, counts.output) },
      total_tokens: inputTokensOf(counts) + counts.output,
      ...(cost === undefined ? {} : { cost: costNumber(cost) }),
    }
    this.#reply = this.#response({
      status: reason === undefined ? 'completed' : 'incomplete',
      completed_at: reason === undefined ? this.#head.createdAt : null,
      incomplete_details: reason === undefined ? null : { reason },
      output: this.#items.map((item) => this.#written(item, reason === undefined ? 'completed' : 'incomplete')),
      usage: usage ?? null,
    })
    return events + this.#writer.last(this.#reply)
  }

  fail(error: ErrorFacts): string {
    const events = this.hasBegun ? '' : this.#writer.opening(this.#response({}))
    const output = this.#items.map((item) => this.#written(item, 'incomplete'))
    return events + failedResponseEvent(this.#response({ output }), error, this.#writer.next)
  }

  /** The first events come with the first output. */
  #begin(): string {
    if (this.hasBegun) {
      return ''
    }
    this.hasBegun = true
    return this.#writer.opening(this.#response({}))
  }

  #add(kind: 'message' | 'reasoning'): [Item, string] {
    return this.#addItem({ kind, prefix: kind === 'message' ? 'msg' : 'rs', tool: undefined, callId: '' })
  }

  #addItem({
    kind,
    prefix,
    tool,
    callId,
  }: Pick<Item, 'kind' | 'tool' | 'callId'> & { prefix: string }): [Item, string] {
    const index = this.#items.length
    const id = `${prefix}_${this.#head.seed}_${index}`
    const item: Item = { id, index, kind, parts: [], tool, callId, pieces: [], isDone: false }
    this.#items.push(item)
    const added = { output_index: index, item: this.#written(item, 'in_progress') }
    return [item, this.#writer.write('response.output_item.added', added)]
  }

  #addText(item: Item, type: Part['type'], delta: string, logprobs: readonly unknown[] = []): string {
    const known = item.parts.findIndex((each) => each.type === type)
    const content_index = known < 0 ? item.parts.length : known
    const place = { item_id: item.id, output_index: item.index, content_index }
    let events = ''
    let part = item.parts[known]
    if (part === undefined) {
      part = { type, pieces: [], logprobs: [], annotations: [] }
      item.parts.push(part)
      events = this.#writer.write('response.content_part.added', { ...place, part: writtenPart(part) })
    }
    part.pieces.push(delta)
    for (const each of logprobs) {
      part.logprobs.push(each)
    }
    const more = type === 'output_text' ? { logprobs } : {}
    return events + this.#writer.write(`${EVENTS[type].event}.delta`, { ...place, delta, ...more })
  }

  /** Links belong to the text that they come with or after. */
  #addAnnotations(annotations: readonly JsonObject[]): string {
    const item = this.#message
    const content_index = item?.parts.findIndex(({ type }) => type === 'output_text') ?? -1
    const part = item?.parts[content_index]
    if (item === undefined || part === undefined) {
      return ''
    }
    const place = { item_id: item.id, output_index: item.index, content_index }
    return annotations
      .flatMap((each) => citationOf(each))
      .map((annotation) => {
        const annotation_index = part.annotations.push(annotation) - 1
        return this.#writer.write('response.output_text.annotation.added', { ...place, annotation_index, annotation })
      })
      .join('')
  }

  #addCall({ key, id, name, arguments: piece }: CallDelta): string {
    const known = this.#calls.get(key)
    if (known !== undefined && 'index' in known) {
      return this.#addArguments(known, piece)
    }
    const waiting = (known?.waiting ?? '') + piece
    const callId = known?.callId ?? id
    if (name === undefined) {
      this.#calls.set(key, { waiting, callId })
      return ''
    }
    const tool = this.#names.toolOf(name)
    const [item, added] = this.#addItem({
      kind: 'call',
      prefix: tool.isCustom === true ? 'ctc' : 'fc',
      tool,
      callId: callId ?? `call_${this.#head.seed}_${key}`,
    })
    this.#calls.set(key, item)
    return added + this.#addArguments(item, waiting)
  }

  /** The text of a custom tool is known when the JSON around it is complete. */
  #addArguments(item: Item, delta: string): string {
    if (delta === '') {
      return ''
    }
    item.pieces.push(delta)
    const place = { item_id: item.id, output_index: item.index }
    return item.tool?.isCustom === true
      ? ''
      : this.#writer.write('response.function_call_arguments.delta', { ...place, delta })
  }

  #close(item: Item | undefined, incomplete?: string): string {
    if (item === undefined || item.isDone) {
      return ''
    }
    item.isDone = true
    const status = incomplete === undefined ? 'completed' : 'incomplete'
    const place = { item_id: item.id, output_index: item.index }
    const inside =
      item.kind === 'call'
        ? this.#closeCall(item, place)
        : item.parts.map((part, content_index) => this.#closePart(part, { ...place, content_index })).join('')
    const done = { output_index: item.index, item: this.#written(item, status) }
    return inside + this.#writer.write('response.output_item.done', done)
  }

  #closePart(part: Part, place: JsonObject): string {
    const { event, field } = EVENTS[part.type]
    const more = part.type === 'output_text' ? { logprobs: part.logprobs } : {}
    const done = this.#writer.write(`${event}.done`, { ...place, [field]: part.pieces.join(''), ...more })
    return done + this.#writer.write('response.content_part.done', { ...place, part: writtenPart(part) })
  }

  #closeCall(item: Item, place: JsonObject): string {
    const text = item.pieces.join('')
    if (item.tool?.isCustom !== true) {
      return this.#writer.write('response.function_call_arguments.done', {
        ...place,
        name: item.tool?.name,
        arguments: text,
      })
    }
    const input = customInput(text)
    const delta = this.#writer.write('response.custom_tool_call_input.delta', { ...place, delta: input })
    return delta + this.#writer.write('response.custom_tool_call_input.done', { ...place, input })
  }

  #written(item: Item, status: string): JsonObject {
    const content = item.parts.map(writtenPart)
    if (item.kind === 'message') {
      return { id: item.id, type: 'message', status, role: 'assistant', content }
    }
    if (item.kind === 'reasoning') {
      return { id: item.id, type: 'reasoning', summary: [], content, encrypted_content: null, status }
    }
    const { name, namespace, isCustom } = item.tool ?? { name: '' }
    const text = item.pieces.join('')
    const input = isCustom === true ? { input: status === 'in_progress' ? '' : customInput(text) } : { arguments: text }
    return {
      id: item.id,
      type: isCustom === true ? 'custom_tool_call' : 'function_call',
      status,
      call_id: item.callId,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...input,
    }
  }

  /** All fields that the schema of the API requires, most of them as in the request. */
  #response(fields: JsonObject): JsonObject {
    const { seed, createdAt, publicModel, body } = this.#head
    const { text, reasoning } = body
    return {
      id: `resp_${seed}`,
      object: 'response',
      created_at: createdAt,
      status: 'in_progress',
      completed_at: null,
      background: false,
      error: null,
      incomplete_details: null,
      instructions: body.instructions ?? null,
      max_output_tokens: body.max_output_tokens ?? null,
      max_tool_calls: body.max_tool_calls ?? null,
      model: publicModel,
      output: [],
      parallel_tool_calls: body.parallel_tool_calls ?? true,
      presence_penalty: body.presence_penalty ?? 0,
      frequency_penalty: body.frequency_penalty ?? 0,
      previous_response_id: null,
      prompt_cache_key: body.prompt_cache_key ?? null,
      reasoning: { effort: null, summary: null, ...(isJsonObject(reasoning) ? reasoning : {}) },
      safety_identifier: body.safety_identifier ?? null,
      service_tier: 'default',
      store: false,
      temperature: body.temperature ?? 1,
      text: { format: { type: 'text' }, ...(isJsonObject(text) ? text : {}) },
      tool_choice: body.tool_choice ?? 'auto',
      tools: body.tools ?? [],
      top_logprobs: body.top_logprobs ?? 0,
      top_p: body.top_p ?? 1,
      truncation: body.truncation ?? 'disabled',
      usage: null,
      metadata: body.metadata ?? {},
      ...fields,
    }
  }
}

const NO_COUNTS = { cachedInputTokens: 0, cacheWriteTokens: 0 }

/** In chat, the fields of a link stand in an object of their own. */
function citationOf({ type, url_citation: link }: JsonObject): readonly JsonObject[] {
  return type === 'url_citation' && isJsonObject(link) ? [{ ...link, type }] : []
}

function writtenPart({ type, pieces, logprobs, annotations }: Part): JsonObject {
  const text = pieces.join('')
  switch (type) {
    case 'output_text':
      return { type, text, annotations: [...annotations], logprobs }
    case 'refusal':
      return { type, refusal: text }
    default:
      return { type, text }
  }
}

/** The text for a custom tool; an upstream that ignores the parameter sends the text itself. */
function customInput(text: string): string {
  const input = parseJsonObject(text)?.[CUSTOM_INPUT]
  return typeof input === 'string' ? input : text
}
