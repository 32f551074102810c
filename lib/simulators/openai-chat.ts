import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import {
  countOf,
  type OpenAiContext,
  type OpenAiEndpoint,
  parseOpenAiBody,
  refusal,
  usageOf,
} from './openai-endpoint.ts'
import type { OpenAiMagic } from './openai-magic-words.ts'
import { countTokens, limitText, longReply, quoteOf, replyTo, sampleValue, splitWords } from './openai-text.ts'

const textPart = z.looseObject({ type: z.literal('text'), text: z.string() })
const imagePart = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.looseObject({ url: z.string().regex(/^(https?:\/\/|data:image\/)/, 'Expected a valid URL.') }),
})
const otherPart = z.looseObject({ type: z.enum(['input_audio', 'file', 'refusal']) })
const content = z.union([z.string(), z.array(z.discriminatedUnion('type', [textPart, imagePart, otherPart])).min(1)])
const toolCall = z.looseObject({
  id: z.string(),
  type: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }).optional(),
})
const message = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['system', 'developer', 'user']), content }),
  z.looseObject({ role: z.literal('assistant'), content: content.nullish(), tool_calls: z.array(toolCall).nullish() }),
  z.looseObject({ role: z.literal('tool'), content, tool_call_id: z.string() }),
  z.looseObject({ role: z.literal('function'), content: z.string().nullable(), name: z.string() }),
])
const toolFunction = z.looseObject({
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
  parameters: z.unknown().optional(),
})
const tool = z.looseObject({ type: z.string(), function: toolFunction.optional() })
const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.looseObject({ type: z.string(), function: z.looseObject({ name: z.string() }).optional() }),
])

/** All undeclared fields are ignored, like compatible servers do. */
const chatBody = z.looseObject({
  model: z.string().min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.int().min(1).max(128).nullish(),
  max_tokens: z.int().min(1).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  messages: z.array(message).min(1),
  max_completion_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  tools: z.array(tool).max(128).nullish(),
  tool_choice: toolChoice.nullish(),
  response_format: z
    .looseObject({
      type: z.enum(['text', 'json_object', 'json_schema']),
      json_schema: z.looseObject({ schema: z.unknown().optional() }).optional(),
    })
    .nullish(),
})

export type ChatRequest = Readonly<z.infer<typeof chatBody>>
type Message = ChatRequest['messages'][number]

/** `POST /chat/completions`. */
export const chatEndpoint: OpenAiEndpoint<ChatRequest> = {
  parse: parseChat,
  promptOf: (request) => textOf(request.messages.findLast(({ role }) => role === 'user')),
  respond: (request, context) => {
    const head = {
      id: newId('chatcmpl-'),
      object: request.stream === true ? 'chat.completion.chunk' : 'chat.completion',
      created: Math.floor(context.nowMs / 1000),
      model: request.model,
    }
    const choices = Array.from({ length: countOf(request.n, context.magic) }, (_, index) =>
      chatChoice(request, context, index),
    )
    const prompt = promptTokens(request)
    if (request.stream === true) {
      return { events: chatEvents({ head, choices, prompt, request, magic: context.magic }) }
    }
    const completion = choices.reduce((sum, { tokens }) => sum + tokens, 0)
    const usage = usageOf(context.magic, prompt, completion)
    return { body: { ...head, choices: choices.map(wholeChat), usage, system_fingerprint: 'fp_simulator' } }
  },
}

/** Limits of a mid-sized chat model of 2025: tokens of all messages, and of one completion. */
const CONTEXT_TOKENS_MAX = 128_000
const OUTPUT_TOKENS_MAX = 16_384

/** @throws OpenAiProblem (400) like a real upstream. */
function parseChat(body: unknown): ChatRequest {
  const request = parseOpenAiBody(chatBody, body)
  if (request.stream_options && request.stream !== true) {
    const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    throw refusal(400, message, null, 'stream_options')
  }
  if (request.tool_choice && !request.tools?.length) {
    throw refusal(400, "'tool_choice' is only allowed when 'tools' are specified.", null, 'tool_choice')
  }
  refuseTooManyTokens(request)
  const tokens = promptTokens(request)
  if (tokens > CONTEXT_TOKENS_MAX) {
    const message = `This model's maximum context length is ${CONTEXT_TOKENS_MAX} tokens. However, your messages resulted in ${tokens} tokens.`
    throw refusal(400, message, 'context_length_exceeded', 'messages')
  }
  return request
}

/** The request exceeds the output limit of the model. */
function refuseTooManyTokens({ max_tokens, max_completion_tokens }: ChatRequest): void {
  for (const [name, asked] of Object.entries({ max_tokens, max_completion_tokens })) {
    if ((asked ?? 0) > OUTPUT_TOKENS_MAX) {
      const message = `${name} is too large: ${asked}. This model supports at most ${OUTPUT_TOKENS_MAX} completion tokens.`
      throw refusal(400, message, null, name)
    }
  }
}

/** The text of a message, its parts joined by spaces. */
function textOf(one: Message | undefined): string {
  const said = one?.content ?? ''
  return typeof said === 'string' ? said : said.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ')
}

function imagesOf(one: Message | undefined): number {
  return Array.isArray(one?.content) ? one.content.filter(({ type }) => type === 'image_url').length : 0
}

/** Tokens of the frame around each message, and around all of them. */
const MESSAGE_TOKENS = 3
/** Tokens of an image at low detail, regardless of its size. */
const IMAGE_TOKENS = 85

export function promptTokens({ messages, tools }: ChatRequest): number {
  const jsonTokens = (value: readonly unknown[] | null | undefined) =>
    value?.length ? countTokens(JSON.stringify(value)) : 0
  return messages.reduce((sum, one) => {
    const calls = one.role === 'assistant' ? jsonTokens(one.tool_calls) : 0
    return sum + MESSAGE_TOKENS + countTokens(textOf(one)) + imagesOf(one) * IMAGE_TOKENS + calls
  }, MESSAGE_TOKENS + jsonTokens(tools))
}

type Logprob = { readonly token: string; readonly logprob: number; readonly bytes: readonly number[] }

/** One completion of a chat: words, or a tool call with its arguments. */
export type ChatChoice = {
  readonly text: string
  /** Thoughts that come first, with `[reasoning]`. */
  readonly reasoning?: string
  /** Of each word, if the request or `[logprobs]` asks for them. */
  readonly logprobs?: readonly Logprob[]
  /** How often the tool is called, with `[tools:N]`. */
  readonly calls?: number
  readonly toolName?: string
  readonly finishReason: string
  readonly tokens: number
}

/** @param index of the choice. */
export function chatChoice(request: ChatRequest, context: OpenAiContext, index: number): ChatChoice {
  const { magic } = context
  const plain = plainChoice(request, context, index)
  const hasLogprobs = plain.toolName === undefined && (request.logprobs === true || magic.has('logprobs'))
  const choice = hasLogprobs ? { ...plain, logprobs: logprobsOf(plain.text, request.top_logprobs ?? 0) } : plain
  return magic.has('reasoning')
    ? { ...choice, reasoning: REASONING, tokens: choice.tokens + countTokens(REASONING) }
    : choice
}

/** The same for the same words. */
function logprobsOf(
  text: string,
  alternatives: number,
): readonly (Logprob & { readonly top_logprobs: readonly Logprob[] })[] {
  const logprob = (token: string, rank: number) => ({ token, logprob: -0.25 - rank, bytes: [...Buffer.from(token)] })
  return splitWords(text).map((word) => ({
    ...logprob(word, 0),
    top_logprobs: Array.from({ length: alternatives }, (_, rank) =>
      logprob(rank === 0 ? word : `${word}~${rank}`, rank),
    ),
  }))
}

const REASONING = 'The user wants something. I should say it in a friendly way.'

/** Most calls of one message. */
const CALLS_MAX = 16

function plainChoice(request: ChatRequest, { magic }: OpenAiContext, index: number): ChatChoice {
  if (magic.has('filtered')) {
    return { text: '', finishReason: 'content_filter', tokens: 0 }
  }
  const called = calledFunction(request)
  if (called !== undefined) {
    const text = JSON.stringify(called.parameters === undefined ? {} : sampleValue(called.parameters, magic.prose))
    return {
      text,
      toolName: called.name,
      ...(magic.has('tools') ? { calls: Math.max(1, magic.number('tools', CALLS_MAX) ?? 1) } : {}),
      finishReason: 'tool_calls',
      tokens: (countTokens(called.name) + countTokens(text)) * Math.max(1, magic.number('tools', CALLS_MAX) ?? 1),
    }
  }
  const hugeBytes = bytesMinOf(magic)
  if (hugeBytes > 0) {
    const text = 'x'.repeat(hugeBytes)
    return { text, finishReason: 'stop', tokens: countTokens(text) }
  }
  const tokensMax = request.max_completion_tokens ?? request.max_tokens ?? OUTPUT_TOKENS_MAX
  const limited = limitText(longReply(magic) ?? replyOf(request, magic, index), request.stop, tokensMax)
  return { ...limited, tokens: countTokens(limited.text) }
}

/** Below the longest string of the engine, half a gigabyte. */
const HUGE_MEGABYTES_MAX = 256

/** The least bytes of a response, for `[huge:MB]`. */
export function bytesMinOf(magic: OpenAiMagic): number {
  return Math.floor((magic.number('huge', HUGE_MEGABYTES_MAX) ?? 0) * 1024 * 1024)
}

function replyOf({ messages, response_format: format }: ChatRequest, { prose }: OpenAiMagic, index: number): string {
  const last = messages.at(-1)
  const reply =
    last?.role === 'tool' || last?.role === 'function'
      ? `The tool says ${quoteOf(textOf(last))}. I could not have found that out alone.`
      : replyTo(prose, imagesOf(messages.findLast(({ role }) => role === 'user')), index)
  switch (format?.type) {
    case 'json_object':
      return JSON.stringify({ reply, you_said: prose })
    case 'json_schema':
      return JSON.stringify(sampleValue(format.json_schema?.schema, prose))
    default:
      return reply
  }
}

/** A function is called after every message of the user: the chosen one, else the first. */
function calledFunction({
  tools,
  tool_choice: choice,
  messages,
}: ChatRequest): z.infer<typeof toolFunction> | undefined {
  if (choice === 'none' || messages.at(-1)?.role !== 'user') {
    return undefined
  }
  const functions = (tools ?? []).flatMap((one) => one.function ?? [])
  const chosen = typeof choice === 'object' ? choice?.function?.name : undefined
  return functions.find(({ name }) => name === chosen) ?? functions[0]
}

function wholeChat(
  { text, toolName, finishReason, reasoning, logprobs, calls = 1 }: ChatChoice,
  index: number,
): unknown {
  const said =
    toolName === undefined
      ? { content: text }
      : {
          content: null,
          tool_calls: Array.from({ length: calls }, () => ({
            id: newId('call_'),
            type: 'function',
            function: { name: toolName, arguments: text },
          })),
        }
  const thought = reasoning === undefined ? {} : { reasoning_content: reasoning }
  const whole = { role: 'assistant', ...said, refusal: null, ...thought }
  const shown = logprobs === undefined ? null : { content: logprobs, refusal: null }
  return { index, message: whole, logprobs: shown, finish_reason: finishReason }
}

/** One event of one completion: its choice, and how many tokens it adds. */
type Step = { readonly choice: { readonly finish_reason: string | null }; readonly tokens: number }

/** The role, the words or pieces of arguments, and the end. */
function chatSteps(
  { text, toolName, finishReason, tokens, logprobs, reasoning = '', calls = 1 }: ChatChoice,
  index: number,
): Step[] {
  const step = (delta: unknown, added = 0, finish_reason: string | null = null, more: object = {}): Step => ({
    choice: { ...{ index, delta }, ...more, finish_reason },
    tokens: added,
  })
  const logprobOf = (place: number) =>
    logprobs === undefined ? {} : { logprobs: { content: logprobs.slice(place, place + 1), refusal: null } }
  const end = step({}, 0, finishReason)
  const thoughts = splitWords(reasoning).map((word) => step({ reasoning_content: word }, countTokens(word)))
  if (toolName === undefined) {
    const words = splitWords(text).map((word, place) =>
      step({ content: word }, countTokens(word), null, logprobOf(place)),
    )
    return [step({ role: 'assistant', content: '' }), ...thoughts, ...words, end]
  }
  const opened = Array.from({ length: calls }, (_, place) => ({
    index: place,
    id: newId('call_'),
    type: 'function',
    function: { name: toolName, arguments: '' },
  }))
  // Several calls come in turns, as they do from some upstreams.
  const pieces = (text.match(/[\s\S]{1,8}/gu) ?? []).map((piece) =>
    step({ tool_calls: opened.map(({ index: place }) => ({ index: place, function: { arguments: piece } })) }),
  )
  const thinking = countTokens(reasoning)
  return [
    ...thoughts,
    step({ role: 'assistant', content: null, tool_calls: opened }, tokens - thinking),
    ...pieces,
    end,
  ]
}

type Generated = {
  readonly head: object
  readonly choices: readonly ChatChoice[]
  readonly prompt: number
  readonly request: Pick<ChatRequest, 'stream_options'>
  readonly magic: OpenAiMagic
}

/** The events of a stream, in which several completions alternate. */
function chatEvents({ head, choices, prompt, request, magic }: Generated): object[] {
  const isAsked = request.stream_options?.include_usage === true && !magic.has('no-usage')
  const parts = choices.map(chatSteps)
  const turns = Math.max(...parts.map(({ length }) => length))
  const steps = Array.from({ length: turns }, (_, turn) => parts.flatMap((part) => part[turn] ?? [])).flat()
  let completion = 0
  const events = steps.map(({ choice, tokens }) => {
    completion += tokens
    const isShown = magic.has('usage-every') || (magic.has('usage-finish') && choice.finish_reason !== null)
    const usage = isShown ? usageOf(magic, prompt, completion) : isAsked ? null : undefined
    return { ...head, choices: [choice], usage }
  })
  const hasLast = isAsked && !magic.has('usage-finish')
  return hasLast ? [...events, { ...head, choices: [], usage: usageOf(magic, prompt, completion) }] : events
}

/** A new id: a prefix and 32 hexadecimal digits. */
export function newId(prefix: string): string {
  return `${prefix}${randomUUID().replaceAll('-', '')}`
}
