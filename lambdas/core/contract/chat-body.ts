import * as z from 'zod'
import { CONTENT_SENTENCE, contentSchema } from './content-parts.ts'

/** Completions that one request may ask for; the wire's own limit. */
export const CHOICES_MAX = 128

/** Stop sequences of one request; the wire's own limit. */
const STOPS_MAX = 4

/** Functions that one request may define; the wire's own limit. */
const TOOLS_MAX = 128

/** More messages than any context holds. */
const MESSAGES_MAX = 16_384

/** As many calls as there may be functions. */
const TOOL_CALLS_MAX = 128

const text = (name: string) => z.string(`${name} must be a text`)

const whole = (name: string, min: number, max: number) => {
  const sentence = `${name} must be a whole number from ${min} to ${max}`
  return z.number(sentence).int(sentence).min(min, sentence).max(max, sentence)
}

const numberFrom = (name: string, min: number, max: number) => {
  const sentence = `${name} must be a number from ${min} to ${max}`
  return z.number(sentence).min(min, sentence).max(max, sentence)
}

const STOP_SENTENCE = `stop must be a text or a list of at most ${STOPS_MAX} texts`

/** Tokens are bounded by the model, not here; this is above any. */
const TOKENS_MAX = 100_000_000

/**
 * The sampling parameters that chat and legacy completions share. SDKs write `null` for a parameter that is not set.
 * Interface, "POST /v1/chat/completions" and "POST /v1/completions".
 */
export const samplingParameters = {
  stream: z.boolean('stream must be true or false').nullish(),
  temperature: numberFrom('temperature', 0, 2).nullish(),
  max_tokens: whole('max_tokens', 1, TOKENS_MAX).nullish(),
  top_p: numberFrom('top_p', 0, 1).nullish(),
  n: whole('n', 1, CHOICES_MAX).nullish(),
  stop: z.union([text('stop'), z.array(text('stop')).max(STOPS_MAX)], STOP_SENTENCE).nullish(),
  presence_penalty: numberFrom('presence_penalty', -2, 2).nullish(),
  frequency_penalty: numberFrom('frequency_penalty', -2, 2).nullish(),
  user: text('user').nullish(),
  stream_options: z
    .looseObject(
      { include_usage: z.boolean('include_usage must be true or false').nullish() },
      'stream_options must be an object',
    )
    .nullish(),
}

const toolCall = z.looseObject(
  {
    id: text('id'),
    type: z.literal('function', 'type must be function').optional(),
    function: z.looseObject(
      { name: text('name'), arguments: z.string('arguments must be a text that holds JSON') },
      'a tool call needs its function',
    ),
  },
  'a tool call must be an object',
)

/** `developer` is what newer clients write for `system`, `function` what older ones write for `tool`. */
const ROLES = ['user', 'assistant', 'system', 'tool', 'developer', 'function'] as const

/** One message of a conversation (interface, "Chat message"). */
export const chatMessageSchema = z
  .looseObject(
    {
      role: z.enum(ROLES, 'role must be user, assistant, system, developer, tool or function'),
      content: contentSchema.nullish(),
      name: text('name').nullish(),
      tool_calls: z
        .array(toolCall, 'tool_calls must be a list')
        .max(TOOL_CALLS_MAX, `tool_calls must hold at most ${TOOL_CALLS_MAX}`)
        .nullish(),
      tool_call_id: text('tool_call_id').nullish(),
    },
    'a message must be an object with a role and a content',
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

/** What a message lacks, or has too much, by its role. */
function faultOfMessage(message: Message): { readonly path: keyof Message; readonly message: string } | undefined {
  const { role, content, name, tool_calls: toolCalls, tool_call_id: toolCallId } = message
  // A function may have returned nothing, which its older form says with null.
  const mayHaveNoContent = role === 'assistant' || (role === 'function' && content === null)
  if (content == null && !mayHaveNoContent) {
    return { path: 'content', message: CONTENT_SENTENCE }
  }
  if (role === 'tool' && !toolCallId) {
    return { path: 'tool_call_id', message: 'a tool message needs tool_call_id, the id of the call that it answers' }
  }
  if (role === 'function' && !name) {
    return { path: 'name', message: 'a function message needs name, the name of the function that was called' }
  }
  if (role !== 'assistant' && toolCalls != null) {
    return { path: 'tool_calls', message: 'only the assistant makes tool calls' }
  }
  return undefined
}

/** A function that the model may call (interface, "Tool definition"). */
export const chatToolSchema = z.looseObject(
  {
    type: z.literal('function', 'type must be function'),
    function: z.looseObject(
      {
        name: z
          .string('function.name must be a text')
          .regex(
            /^[A-Za-z0-9_.:-]{1,128}$/,
            'function.name must be 1 to 128 letters, digits, dots, colons, underscores and hyphens',
          ),
        description: text('description').nullish(),
        parameters: z.looseObject({}, 'parameters must be a JSON schema object').nullish(),
      },
      'a tool needs its function',
    ),
  },
  'a tool must be an object with type function',
)

const TOOL_CHOICE_SENTENCE = 'tool_choice must be auto, none, required or an object that names a function'

/** The body of `POST /v1/chat/completions` as the interface lists it. What else passes is in `passing-fields.ts`. */
export const chatBodySchema = z.looseObject(
  {
    model: z.string('model must be a text: the id of a chat model'),
    messages: z
      .array(chatMessageSchema, 'messages must be a list of messages')
      .min(1, 'messages must hold at least one message')
      .max(MESSAGES_MAX, 'messages holds more messages than any model takes'),
    max_completion_tokens: whole('max_completion_tokens', 1, TOKENS_MAX).nullish(),
    tools: z
      .array(chatToolSchema, 'tools must be a list')
      .max(TOOLS_MAX, `tools must hold at most ${TOOLS_MAX}`)
      .nullish(),
    tool_choice: z.union([z.enum(['auto', 'none', 'required']), z.looseObject({})], TOOL_CHOICE_SENTENCE).nullish(),
    ...samplingParameters,
  },
  'the body must be a JSON object',
)

/** The body of a chat request as far as the gateway reads it. */
export type ChatBody = z.infer<typeof chatBodySchema>
