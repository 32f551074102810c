import * as z from 'zod'
import { type ChatChoice, type ChatRequest, chatChoice, newId, promptTokens } from './openai-chat.ts'
import { type NamedEvent, type OpenAiContext, type OpenAiEndpoint, parseOpenAiBody } from './openai-endpoint.ts'
import type { OpenAiMagic } from './openai-magic-words.ts'
import { countTokens, splitWords } from './openai-text.ts'

const loose = z.looseObject({})
const blocks = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))])

const responsesBody = z.looseObject({
  model: z.string().min(1),
  input: z.union([z.string(), z.array(loose)]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  tools: z.array(loose).nullish(),
  tool_choice: z.union([z.string(), loose]).nullish(),
  text: loose.nullish(),
  include: z.array(z.string()).nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
})

const messagesBody = z.looseObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1).optional(),
  messages: z.array(z.looseObject({ role: z.string(), content: blocks })).min(1),
  system: blocks.nullish(),
  stream: z.boolean().nullish(),
  tools: z.array(loose).nullish(),
  tool_choice: loose.nullish(),
  output_config: loose.nullish(),
})

type ResponsesRequest = Readonly<z.infer<typeof responsesBody>>
type MessagesRequest = Readonly<z.infer<typeof messagesBody>>
type SaidMessage = ChatRequest['messages'][number]
type Loose = Readonly<Record<string, unknown>>

/** `POST /responses`. */
export const responsesEndpoint: OpenAiEndpoint<ResponsesRequest> = {
  parse: (body) => parseOpenAiBody(responsesBody, body),
  promptOf: (request) => promptOf(chatOfResponses(request)),
  respond: (request, context) => {
    const chat = chatOfResponses(request)
    const choice = chatChoice(chat, context, 0)
    const response = responseOf(request, choice, context, promptTokens(chat))
    return request.stream === true ? { named: responseEvents(response), failure: RESPONSE_FAILURE } : { body: response }
  },
}

/** `POST /messages`. */
export const messagesEndpoint: OpenAiEndpoint<MessagesRequest> = {
  parse: (body) => parseOpenAiBody(messagesBody, body),
  promptOf: (request) => promptOf(chatOfMessages(request)),
  respond: (request, context) => {
    const chat = chatOfMessages(request)
    const choice = chatChoice(chat, context, 0)
    const message = messageOf(request, choice, context.magic, promptTokens(chat))
    return request.stream === true ? { named: messageEvents(message), failure: MESSAGE_FAILURE } : { body: message }
  },
}

/** `POST /messages/count_tokens`. */
export const countTokensEndpoint: OpenAiEndpoint<MessagesRequest> = {
  parse: (body) => parseOpenAiBody(messagesBody, body),
  promptOf: (request) => promptOf(chatOfMessages(request)),
  respond: (request) => ({ body: { input_tokens: promptTokens(chatOfMessages(request)) } }),
}

const FAILED = 'The server had an error while processing your request'
const RESPONSE_FAILURE = { type: 'error', ...{ code: 'server_error', message: FAILED, param: null } }
const MESSAGE_FAILURE = { type: 'error', ...{ error: { type: 'api_error', message: FAILED } } }

function promptOf({ messages }: ChatRequest): string {
  const last = messages.findLast(({ role }) => role === 'user')
  return typeof last?.content === 'string' ? last.content : ''
}

/** The texts of a content, joined by spaces. */
function textsOf(content: unknown): string {
  const parts: readonly Loose[] = Array.isArray(content) ? content : []
  return typeof content === 'string' ? content : parts.flatMap(({ text }) => text ?? []).join(' ')
}

/** What decides about the reply: the words of the last user, the tools, and whether a tool was called. */
function chatOfResponses(request: ResponsesRequest): ChatRequest {
  const { input, tools, max_output_tokens: limit, model, text, include, top_logprobs: alternatives } = request
  const items: readonly Loose[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  const messages = items.flatMap((item): SaidMessage[] => {
    if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
      return [{ role: 'tool' as const, content: textsOf(item.output), tool_call_id: String(item.call_id) }]
    }
    return item.role === undefined ? [] : [messageOfRole(item.role, textsOf(item.content))]
  })
  const format = Object(text).format
  const isAsked = (include ?? []).includes('message.output_text.logprobs')
  return {
    model,
    ...(isAsked ? { logprobs: true, top_logprobs: alternatives ?? 0 } : {}),
    messages: messages.length === 0 ? [{ role: 'user', content: '' }] : messages,
    ...(limit == null ? {} : { max_tokens: limit }),
    ...toolsOf(tools ?? [], (tool) => (tool.type === 'function' ? tool.parameters : undefined)),
    ...(format?.type === 'json_schema' ? { response_format: { type: 'json_schema', json_schema: format } } : {}),
  }
}

function chatOfMessages({
  model,
  messages,
  tools,
  tool_choice: choice,
  max_tokens: limit,
  output_config: config,
}: MessagesRequest): ChatRequest {
  const said = messages.flatMap(({ role, content }): SaidMessage[] => {
    const results = Array.isArray(content) ? content.filter(({ type }) => type === 'tool_result') : []
    const words = textsOf(content)
    return [
      ...(words === '' && results.length > 0 ? [] : [messageOfRole(role, words)]),
      ...results.map((one) => ({ role: 'tool' as const, content: textsOf(one.content), tool_call_id: 'toolu' })),
    ]
  })
  const format = Object(config).format
  return {
    model,
    messages: said,
    ...(limit === undefined ? {} : { max_tokens: limit }),
    ...(format?.type === 'json_schema' ? { response_format: { type: 'json_schema', json_schema: format } } : {}),
    ...(choice?.type === 'none' ? {} : toolsOf(tools ?? [], (tool) => tool.input_schema)),
  }
}

function messageOfRole(role: unknown, content: string): SaidMessage {
  return role === 'assistant'
    ? { role, content }
    : { role: role === 'system' || role === 'developer' ? role : 'user', content }
}

function toolsOf(tools: readonly Loose[], schemaOf: (tool: Loose) => unknown) {
  const functions = tools.flatMap((tool) => {
    const parameters = schemaOf(tool)
    return parameters === undefined ? [] : [{ type: 'function', function: { name: String(tool.name), parameters } }]
  })
  return functions.length === 0 ? {} : { tools: functions }
}

function responseOf(request: ResponsesRequest, choice: ChatChoice, { magic, nowMs }: OpenAiContext, prompt: number) {
  const { text, toolName, reasoning, logprobs = [], calls = 1, finishReason, tokens } = choice
  const content = [{ type: 'output_text', text, annotations: [], logprobs }]
  const thought = reasoning === undefined ? [] : [{ type: 'reasoning_text', text: reasoning }]
  const said =
    toolName === undefined
      ? [{ type: 'message', id: newId('msg_'), status: 'completed', role: 'assistant', content }]
      : Array.from({ length: calls }, () => ({
          ...{ type: 'function_call', id: newId('fc_'), status: 'completed', call_id: newId('call_') },
          ...{ name: toolName, arguments: text },
        }))
  const reasons = thought.map((part) => ({ type: 'reasoning', id: newId('rs_'), summary: [], content: [part] }))
  const isCut = finishReason === 'length' || finishReason === 'content_filter'
  const cached = magic.has('usage-details') ? Math.floor(prompt / 2) : 0
  return {
    id: newId('resp_'),
    object: 'response',
    created_at: Math.floor(nowMs / 1000),
    status: isCut ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: isCut ? { reason: finishReason === 'length' ? 'max_output_tokens' : 'content_filter' } : null,
    instructions: request.instructions ?? null,
    model: request.model,
    store: false,
    output: [...reasons, ...said] as readonly Loose[],
    usage: magic.has('no-usage')
      ? null
      : {
          input_tokens: prompt,
          input_tokens_details: { cached_tokens: cached },
          output_tokens: tokens,
          output_tokens_details: { reasoning_tokens: countTokens(reasoning ?? '') },
          total_tokens: prompt + tokens,
        },
  }
}

type SimulatedResponse = ReturnType<typeof responseOf>

function responseEvents(response: SimulatedResponse): NamedEvent[] {
  const begun = { ...response, status: 'in_progress', output: [], usage: null }
  const events: Loose[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...response.output.flatMap(itemEvents),
    { type: `response.${response.status}`, response },
  ]
  return events.map((event, sequence_number) => ({ type: String(event.type), ...event, sequence_number }))
}

function itemEvents(item: Loose, output_index: number): Loose[] {
  const place = { item_id: item.id, output_index }
  const [part] = (item.content ?? []) as readonly Loose[]
  const empty = part === undefined ? { ...item, arguments: '' } : { ...item, content: [] }
  const added = { type: 'response.output_item.added', output_index, item: empty }
  const done = { type: 'response.output_item.done', output_index, item }
  if (part === undefined) {
    const name = 'response.function_call_arguments'
    const pieces = (String(item.arguments).match(/[\s\S]{1,8}/gu) ?? []).map((delta) => ({
      type: `${name}.delta`,
      ...place,
      delta,
    }))
    return [added, ...pieces, { type: `${name}.done`, ...place, arguments: item.arguments }, done]
  }
  const name = `response.${String(part.type)}`
  const inside = { ...place, content_index: 0 }
  const logprobs = part.logprobs as readonly unknown[] | undefined
  const begun = { ...part, text: '', ...(logprobs === undefined ? {} : { logprobs: [] }) }
  return [
    added,
    { type: 'response.content_part.added', ...inside, part: begun },
    ...splitWords(String(part.text)).map((delta, index) => ({
      ...{ type: `${name}.delta`, ...inside, delta },
      ...(logprobs === undefined ? {} : { logprobs: logprobs.slice(index, index + 1) }),
    })),
    { type: `${name}.done`, ...inside, text: part.text, ...(logprobs === undefined ? {} : { logprobs }) },
    { type: 'response.content_part.done', ...inside, part },
    done,
  ]
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  length: 'max_tokens',
  content_filter: 'refusal',
  tool_calls: 'tool_use',
}

function messageOf(request: MessagesRequest, choice: ChatChoice, magic: OpenAiMagic, prompt: number) {
  const { text, toolName, reasoning, calls = 1, finishReason, tokens } = choice
  const thought = reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning, signature: 'c2ltdWxhdG9y' }]
  const said =
    toolName === undefined
      ? [{ type: 'text', text }]
      : Array.from({ length: calls }, () => ({
          ...{ type: 'tool_use', id: newId('toolu_'), name: toolName },
          input: JSON.parse(text) as unknown,
        }))
  const cached = magic.has('usage-details') ? Math.floor(prompt / 2) : 0
  return {
    id: newId('msg_'),
    type: 'message',
    role: 'assistant',
    model: request.model,
    content: [...thought, ...said] as readonly Loose[],
    stop_reason: STOP_REASONS[finishReason] ?? 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: prompt - cached,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: cached,
      output_tokens: tokens,
    },
  }
}

function messageEvents(message: ReturnType<typeof messageOf>): NamedEvent[] {
  const { stop_reason, stop_sequence, usage } = message
  const begun = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }
  const events: Loose[] = [
    { type: 'message_start', message: begun },
    { type: 'ping' },
    ...message.content.flatMap(blockEvents),
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: { output_tokens: usage.output_tokens } },
    { type: 'message_stop' },
  ]
  return events.map((event) => ({ type: String(event.type), ...event }))
}

function blockEvents(block: Loose, index: number): Loose[] {
  const delta = (part: Loose) => ({ type: 'content_block_delta', index, delta: part })
  const stop = { type: 'content_block_stop', index }
  const start = (content_block: Loose) => ({ type: 'content_block_start', index, content_block })
  switch (block.type) {
    case 'thinking':
      return [
        start({ ...block, thinking: '', signature: '' }),
        ...splitWords(String(block.thinking)).map((thinking) => delta({ type: 'thinking_delta', thinking })),
        delta({ type: 'signature_delta', signature: block.signature }),
        stop,
      ]
    case 'tool_use': {
      const pieces = JSON.stringify(block.input).match(/[\s\S]{1,8}/gu) ?? []
      return [
        start({ ...block, input: {} }),
        ...pieces.map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
        stop,
      ]
    }
    default:
      return [
        start({ ...block, text: '' }),
        ...splitWords(String(block.text)).map((text) => delta({ type: 'text_delta', text })),
        stop,
      ]
  }
}
