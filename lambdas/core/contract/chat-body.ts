import * as z from 'zod'
import { CONTENT_MESSAGE, contentSchema } from './content-parts.ts'

/** Most completions of one request; the limit of the OpenAI API. */
export const CHOICES_MAX = 128

/** Most stop sequences of one request; the limit of the OpenAI API. */
const STOPS_MAX = 4

/** Most functions that one request may define; the limit of the OpenAI API. */
const TOOLS_MAX = 128

/** Most messages of one request; above what any context holds. */
const MESSAGES_MAX = 16_384

/** Most tool calls of one message: as many as a request may define functions. */
const TOOL_CALLS_MAX = 128

const string = (name: string) => z.string(`\`${name}\` must be a string`)

const boolean = (name: string) => z.boolean(`\`${name}\` must be true or false`)

const integer = (name: string, min: number, max: number) => {
  const message = `\`${name}\` must be an integer from ${min} to ${max}`
  return z.number(message).int(message).min(min, message).max(max, message)
}

const number = (name: string, min: number, max: number) => {
  const message = `\`${name}\` must be a number from ${min} to ${max}`
  return z.number(message).min(min, message).max(max, message)
}

const STOP_MESSAGE = `\`stop\` must be a string or an array of at most ${STOPS_MAX} strings`

/** Above the limit of any model; each model's own limit is checked afterwards. */
const TOKENS_MAX = 100_000_000

/**
 * The sampling parameters that chat and legacy completions share. SDKs send `null` for a parameter that is not set.
 * Interface, "POST /v1/chat/completions" and "POST /v1/completions".
 */
export const samplingParameters = {
  stream: boolean('stream').nullish(),
  temperature: number('temperature', 0, 2).nullish(),
  max_tokens: integer('max_tokens', 1, TOKENS_MAX).nullish(),
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

/** A function that the model may call. */
export const chatToolSchema = z.looseObject(
  {
    type: z.literal('function', '`type` must be function'),
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
      '`function` must be an object with `name`',
    ),
  },
  'each of `tools` must be an object with `type` and `function`',
)

const TOOL_CHOICE_MESSAGE = '`tool_choice` must be auto, none, required, or an object that names a function'

/** The fields of `POST /v1/chat/completions` in openapi.json. `passing-fields.ts` lists all that pass upstream. */
export const chatBodySchema = z.looseObject(
  {
    model: z.string('`model` must be a string: the id of a chat model'),
    messages: z
      .array(chatMessageSchema, '`messages` must be an array of messages')
      .min(1, '`messages` must hold at least one message')
      .max(MESSAGES_MAX, `\`messages\` must hold at most ${MESSAGES_MAX} messages`),
    max_completion_tokens: integer('max_completion_tokens', 1, TOKENS_MAX).nullish(),
    tools: z
      .array(chatToolSchema, '`tools` must be an array')
      .max(TOOLS_MAX, `\`tools\` must hold at most ${TOOLS_MAX} tools`)
      .nullish(),
    tool_choice: z.union([z.enum(['auto', 'none', 'required']), z.looseObject({})], TOOL_CHOICE_MESSAGE).nullish(),
    ...samplingParameters,
  },
  'the body must be a JSON object',
)

/** The fields of a chat request that the gateway reads. */
export type ChatBody = z.infer<typeof chatBodySchema>
