import * as z from 'zod'
import { parseOpenAiBody } from './openai-body.ts'
import type { OpenAiLimits } from './openai-endpoint.ts'
import { contextTooLong, invalidParameter } from './openai-errors.ts'
import { countTokens } from './openai-tokens.ts'

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

const functionTool = z.looseObject({
  type: z.string(),
  function: z
    .looseObject({ name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/), parameters: z.unknown().optional() })
    .optional(),
})

const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.looseObject({ type: z.string(), function: z.looseObject({ name: z.string() }).optional() }),
])

/** Ignores all other fields, like compatible servers. */
const chatBody = z.looseObject({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.int().min(1).max(128).nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  tools: z.array(functionTool).max(128).nullish(),
  tool_choice: toolChoice.nullish(),
  response_format: z
    .looseObject({
      type: z.enum(['text', 'json_object', 'json_schema']),
      json_schema: z.looseObject({ schema: z.unknown().optional() }).optional(),
    })
    .nullish(),
})

/** A valid chat request. */
export type ChatRequest = Readonly<z.infer<typeof chatBody>>
type Message = ChatRequest['messages'][number]

/** Tokens of the frame around each message, and around all of them. */
const MESSAGE_TOKENS = 3

/** Tokens of an image at low detail, regardless of its size. */
const IMAGE_TOKENS = 85

/** Parses a chat request. @throws OpenAiProblem (400) like a real upstream. */
export function parseChatBody(body: unknown, limits: OpenAiLimits): ChatRequest {
  const request = parseOpenAiBody(chatBody, body)
  if (request.stream_options && request.stream !== true) {
    throw invalidParameter("The 'stream_options' parameter is only allowed when 'stream' is enabled.", 'stream_options')
  }
  if (request.tool_choice && !request.tools?.length) {
    throw invalidParameter("'tool_choice' is only allowed when 'tools' are specified.", 'tool_choice')
  }
  refuseLooseToolMessages(request.messages)
  for (const name of ['max_tokens', 'max_completion_tokens'] as const) {
    refuseTooManyTokens(name, request[name], limits)
  }
  const tokens = promptTokens(request)
  if (tokens > limits.contextTokensMax) {
    throw contextTooLong(limits.contextTokensMax, tokens)
  }
  return request
}

/** @throws OpenAiProblem (400) if the request exceeds the output limit of the model. */
export function refuseTooManyTokens(name: string, asked: number | null | undefined, limits: OpenAiLimits): void {
  if (asked !== null && asked !== undefined && asked > limits.outputTokensMax) {
    throw invalidParameter(
      `${name} is too large: ${asked}. This model supports at most ${limits.outputTokensMax} completion tokens.`,
      name,
    )
  }
}

/** A tool message requires a preceding tool call. */
function refuseLooseToolMessages(messages: readonly Message[]): void {
  const called = new Set<string>()
  for (const [index, one] of messages.entries()) {
    if (one.role === 'assistant') {
      for (const call of one.tool_calls ?? []) {
        called.add(call.id)
      }
    }
    if (one.role === 'tool' && !called.has(one.tool_call_id)) {
      throw invalidParameter(
        "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
        `messages[${index}].role`,
      )
    }
  }
}

/** The text of a message, its parts joined by spaces. */
export function textOf({ content: said }: Message): string {
  return Array.isArray(said)
    ? said.flatMap((part) => (part.type === 'text' && typeof part.text === 'string' ? [part.text] : [])).join(' ')
    : (said ?? '')
}

/** The number of images in a message. */
export function imagesOf({ content: said }: Message): number {
  return Array.isArray(said) ? said.filter((part) => part.type === 'image_url').length : 0
}

/** The last message of the user, if any. */
export function lastUserMessage({ messages }: ChatRequest): Message | undefined {
  return messages.findLast(({ role }) => role === 'user')
}

/** Simulated prompt tokens. */
export function promptTokens({ messages, tools }: ChatRequest): number {
  const ofMessages = messages.map((one) => {
    const calls = one.role === 'assistant' && one.tool_calls?.length ? countTokens(JSON.stringify(one.tool_calls)) : 0
    return MESSAGE_TOKENS + countTokens(textOf(one)) + imagesOf(one) * IMAGE_TOKENS + calls
  })
  const ofTools = tools?.length ? countTokens(JSON.stringify(tools)) : 0
  return ofMessages.reduce((sum, tokens) => sum + tokens, MESSAGE_TOKENS) + ofTools
}
