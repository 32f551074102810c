import * as z from 'zod'
import { addedPartFields } from '../allowed-fields.ts'
import type { ChatModel } from '../catalogue/model.ts'
import type { AskedLimits } from '../catalogue/parameters.ts'
import { InvalidRequestError } from '../errors.ts'
import { isJsonObject, type JsonObject } from '../json/parse-json-text.ts'
import { modelOfRoute } from './agent-request.ts'
import {
  boundPrompt,
  CONTENT_MESSAGE,
  contentSchema,
  imageUrlOf,
  mediaTokensMax,
  partsOf,
  refusedPartIssue,
} from './content-parts.ts'
import { type Offered, parseBody } from './request-issues.ts'

/** Most completions of one request; the limit of the OpenAI API. */
export const CHOICES_MAX = 128

/** Most stop sequences of one request; the limit of the OpenAI API. */
export const STOPS_MAX = 4

/** Most functions that one request may define; the limit of the OpenAI API. */
const TOOLS_MAX = 128

/** Most messages of one request; above what any context holds. */
export const MESSAGES_MAX = 16_384

/** Most tool calls of one message: as many as a request may define functions. */
const TOOL_CALLS_MAX = 128

export const string = (name: string) => z.string(`\`${name}\` must be a string`)

export const boolean = (name: string) => z.boolean(`\`${name}\` must be true or false`)

export const integer = (name: string, min: number, max: number) => {
  const message = `\`${name}\` must be an integer from ${min} to ${max}`
  return z.number(message).int(message).min(min, message).max(max, message)
}

export const number = (name: string, min: number, max: number) => {
  const message = `\`${name}\` must be a number from ${min} to ${max}`
  return z.number(message).min(min, message).max(max, message)
}

const STOP_MESSAGE = `\`stop\` must be a string or an array of at most ${STOPS_MAX} strings`

/** Above the limit of any model. */
const TOKENS_MAX = 100_000_000

/** The model's own limit is checked afterwards, so the message does not name the largest number that a body may have. */
export const outputTokens = (name: string) => {
  const message = `\`${name}\` must be an integer from 1 to the limit of the model`
  return z.number(message).int(message).min(1, message).max(TOKENS_MAX, message)
}

/**
 * The sampling parameters that chat and legacy completions share. SDKs send `null` for a parameter that is not set.
 * Interface, "POST /v1/chat/completions" and "POST /v1/completions".
 */
export const samplingParameters = {
  stream: boolean('stream').nullish(),
  temperature: number('temperature', 0, 2).nullish(),
  max_tokens: outputTokens('max_tokens').nullish(),
  top_p: number('top_p', 0, 1).nullish(),
  n: integer('n', 1, CHOICES_MAX).nullish(),
  stop: z.union([string('stop'), z.array(string('stop')).max(STOPS_MAX)], STOP_MESSAGE).nullish(),
  presence_penalty: number('presence_penalty', -2, 2).nullish(),
  frequency_penalty: number('frequency_penalty', -2, 2).nullish(),
  user: string('user').nullish(),
  stream_options: z
    .looseObject({ include_usage: boolean('include_usage').nullish() }, '`stream_options` must be an object')
    .nullish(),
}

const toolCall = z.looseObject(
  {
    id: string('id'),
    type: z.literal('function', '`type` must be function').optional(),
    function: z.looseObject(
      { name: string('name'), arguments: z.string('`arguments` must be a string of JSON') },
      '`function` must be an object with `name` and `arguments`',
    ),
  },
  'each of `tool_calls` must be an object with `id` and `function`',
)

/** Newer clients send `developer` for `system`; older ones send `function` for `tool`. */
const ROLES = ['user', 'assistant', 'system', 'tool', 'developer', 'function'] as const

/** One message of a conversation. */
export const chatMessageSchema = z
  .looseObject(
    {
      role: z.enum(ROLES, `\`role\` must be one of ${ROLES.join(', ')}`),
      content: contentSchema.nullish(),
      name: string('name').nullish(),
      refusal: string('refusal').nullish(),
      tool_calls: z
        .array(toolCall, '`tool_calls` must be an array')
        .max(TOOL_CALLS_MAX, `\`tool_calls\` must hold at most ${TOOL_CALLS_MAX} calls`)
        .nullish(),
      tool_call_id: string('tool_call_id').nullish(),
    },
    'each of `messages` must be an object with `role` and `content`',
  )
  .superRefine((each, context) => {
    const fault = faultOfMessage(each)
    if (fault !== undefined) {
      context.addIssue({ code: 'custom', path: [fault.path], message: fault.message, continue: false })
    }
  })

type Message = Readonly<Partial<Record<'content' | 'name' | 'tool_calls' | 'tool_call_id', unknown>>> & {
  readonly role: (typeof ROLES)[number]
}

/** The first field that the role of a message requires and that is missing, or that the role does not allow. */
function faultOfMessage(message: Message): { readonly path: keyof Message; readonly message: string } | undefined {
  const { role, content, name, tool_calls: toolCalls, tool_call_id: toolCallId } = message
  // In the older form, null is the result of a function that returned nothing.
  const mayHaveNoContent = role === 'assistant' || (role === 'function' && content === null)
  if (content == null && !mayHaveNoContent) {
    return { path: 'content', message: CONTENT_MESSAGE }
  }
  if (role === 'tool' && !toolCallId) {
    return { path: 'tool_call_id', message: '`tool_call_id` is required in a tool message: send the id of its call' }
  }
  if (role === 'function' && !name) {
    return { path: 'name', message: '`name` is required in a function message: send the name of its function' }
  }
  if (role !== 'assistant' && toolCalls != null) {
    return { path: 'tool_calls', message: '`tool_calls` is only allowed in assistant messages: leave it out' }
  }
  return undefined
}

/** Tools of other APIs look alike. */
const TOOL_FORM = 'a tool of a chat is {"type": "function", "function": {"name", "description", "parameters"}}'

/** A function that the model may call. */
export const chatToolSchema = z.looseObject(
  {
    type: z.literal('function', `\`type\` must be function: ${TOOL_FORM}`),
    function: z.looseObject(
      {
        name: z
          .string('`function.name` must be a string')
          .regex(
            /^[A-Za-z0-9_.:-]{1,128}$/,
            '`function.name` must be 1 to 128 letters, digits, dots, colons, underscores and hyphens',
          ),
        description: string('description').nullish(),
        parameters: z.looseObject({}, '`parameters` must be a JSON Schema object').nullish(),
      },
      `\`function\` must be an object with \`name\`: ${TOOL_FORM}`,
    ),
  },
  'each of `tools` must be an object with `type` and `function`',
)

const TOOL_CHOICE_MESSAGE =
  '`tool_choice` must be auto, none, required, or an object such as {"type":"function","function":{"name":"…"}}'

/** Other types are left to the upstream. */
function namesItsFunction({ type, function: called }: JsonObject): boolean {
  return type !== 'function' || (isJsonObject(called) && typeof called.name === 'string')
}

/** The fields of `POST /v1/chat/completions` in openapi.json. `allowed-fields.ts` lists all that pass upstream. */
export const chatBodySchema = z.looseObject(
  {
    model: z.string('`model` must be a string: the id of a chat model'),
    messages: z
      .array(chatMessageSchema, '`messages` must be an array of messages')
      .min(1, '`messages` must hold at least one message')
      .max(MESSAGES_MAX, `\`messages\` must hold at most ${MESSAGES_MAX} messages`),
    max_completion_tokens: outputTokens('max_completion_tokens').nullish(),
    tools: z
      .array(chatToolSchema, '`tools` must be an array')
      .max(TOOLS_MAX, `\`tools\` must hold at most ${TOOLS_MAX} tools`)
      .nullish(),
    tool_choice: z
      .union(
        [z.enum(['auto', 'none', 'required']), z.looseObject({}).refine(namesItsFunction, TOOL_CHOICE_MESSAGE)],
        TOOL_CHOICE_MESSAGE,
      )
      .nullish(),
    ...samplingParameters,
  },
  'the body must be a JSON object',
)

/** The fields of a chat request that the gateway reads. */
export type ChatBody = z.infer<typeof chatBodySchema>

/** What the gateway reads from a chat request. The fields that pass go upstream as the client wrote them. */
export type ChatRequest = {
  readonly model: ChatModel
  readonly stream: boolean
  /** Whether the client asked for the usage chunk at the end of a stream. */
  readonly includeUsage: boolean
  /** Number of completions. */
  readonly choices: number
  /** Upper bound of the tokens of one completion. */
  readonly outputTokensMax: number
  /** The client's own limits of one completion. */
  readonly askedLimits: AskedLimits
  /** Upper bound of the tokens of the messages, the tools and all other input. */
  readonly promptTokensMax: number
  /** The part of {@link promptTokensMax} that is for images and may come on top of the model's context. */
  readonly imageTokensMax: number
  /** Likely tokens of the same input, which bill a stream without usage; never above {@link promptTokensMax}. */
  readonly promptTokensEstimate: number
  /** The client's `stream_options`; the gateway adds its own request for usage. */
  readonly streamOptions: Readonly<Record<string, unknown>>
}

/** What a key may use, and the bytes of the body in UTF-8. */
type Context = Offered & { readonly bodyBytes: number }

/**
 * Checks a chat body and bounds its cost.
 * @throws InvalidRequestError naming the field to correct; ModelNotFoundError. Both come before any reservation.
 */
export function parseChatRequest(body: unknown, { bodyBytes, ...offered }: Context): ChatRequest {
  const chat = parseBody(chatBodySchema, body)
  const model = modelOfRoute(chat.model, 'chat', offered)
  const channels = offered.catalogue.configuredRelayChannels(model.id)
  const added = addedPartFields(channels.map((channel) => channel.pass_members.chat))
  const refused = refusedPartIssue(chat.messages, { model, added })
  if (refused !== undefined) {
    throw new InvalidRequestError([refused])
  }
  const askedLimits = { max_tokens: chat.max_tokens, max_completion_tokens: chat.max_completion_tokens }
  return {
    model,
    stream: chat.stream === true,
    includeUsage: chat.stream_options?.include_usage === true,
    choices: chat.n ?? 1,
    outputTokensMax: outputTokensMax(askedLimits, model),
    askedLimits,
    ...promptTokens(chat, model, { bodyBytes, added }),
    streamOptions: chat.stream_options ?? {},
  }
}

/**
 * The tokens that one completion may have: the largest limit of the body, because the upstream decides which one it obeys.
 * @param asked limits by the name of their field.
 * @param fallback for a body without a limit.
 * @throws InvalidRequestError for limits above the model's.
 */
export function outputTokensMax(
  asked: Readonly<Record<string, number | null | undefined>>,
  model: ChatModel,
  fallback = model.default_max_output_tokens ?? model.max_output_tokens,
): number {
  const limits = Object.entries(asked).flatMap(([path, tokens]) => (tokens == null ? [] : [{ path, tokens }]))
  const issues = limits.flatMap(({ path, tokens }) =>
    tokens > model.max_output_tokens
      ? [{ path, message: `\`${path}\` must be at most ${model.max_output_tokens} for ${model.id}` }]
      : [],
  )
  if (issues.length > 0) {
    throw new InvalidRequestError(issues)
  }
  return limits.length === 0 ? fallback : Math.max(...limits.map(({ tokens }) => tokens))
}

type PromptFacts = {
  readonly bodyBytes: number
  /** Fields of content parts that the channels of the model add to the list. */
  readonly added: ReadonlySet<string>
}

type PromptBounds = Pick<ChatRequest, 'promptTokensMax' | 'imageTokensMax' | 'promptTokensEstimate'>

/**
 * No common tokenizer makes more tokens than the text has bytes. The body holds the whole prompt, and its JSON syntax is
 * longer than what a chat template adds. An image counts as the number of its detail instead of the length of its url, and on top of the
 * context, because some upstreams bill more tokens for an image than it takes of the context. Parts without a number fill the context,
 * all of them together.
 */
function promptTokens(chat: ChatBody, model: ChatModel, { bodyBytes, added }: PromptFacts): PromptBounds {
  const parts = partsOf(chat.messages)
  const media = parts.map((part) => mediaTokensMax(part, { added, model }))
  const urls = parts.filter(({ type }) => type === 'image_url').map(imageUrlOf)
  const mediaBytes = urls.reduce((sum, url) => sum + (url?.length ?? 0), 0)
  return boundPrompt(model, { media, mediaBytes, bodyBytes })
}
