import { type AllowedList, listedFields } from '#core/allowed-fields.ts'
import { CHOICES_MAX, chatBodySchema, chatMessageSchema, chatToolSchema } from '#core/api/chat-request.ts'
import { completionBodySchema } from '#core/api/completion-request.ts'
import { PARTS_MAX } from '#core/api/content-parts.ts'
import { embeddingBodySchema, INPUTS_MAX } from '#core/api/embedding-request.ts'
import { imageBodySchema } from '#core/api/image-request.ts'
import { countTokensBodySchema, messagesBodySchema } from '#core/api/messages-request.ts'
import { responsesBodySchema } from '#core/api/responses-request.ts'
import { PROMPT_UNITS_MAX, videoJobBodySchema } from '#core/api/video-job-request.ts'
import { type DescribedFields, type JsonSchema, toJsonSchemas } from './openapi-types.ts'

const USER = { description: 'Identifier of an end user, relayed to the upstream.' }

const SAMPLING: DescribedFields = {
  stream: { description: 'Returns server-sent events.', default: false },
  temperature: { description: 'Sampling temperature. Default: the upstream’s.' },
  max_tokens: { description: 'Maximum tokens of one completion, up to the limit of the model.' },
  top_p: { description: 'Nucleus sampling.' },
  n: { description: 'Number of completions.', default: 1 },
  stop: { description: 'Strings that end a completion.' },
  presence_penalty: { description: 'Penalty for tokens that have occurred before.' },
  frequency_penalty: { description: 'Penalty for tokens by how often they have occurred.' },
  user: USER,
  stream_options: { description: '`include_usage` adds an event with the usage at the end of a stream.' },
}

const MAX_COMPLETION_TOKENS = { description: 'The newer name of `max_tokens`.' }

export const CHAT_FIELDS: DescribedFields = {
  ...SAMPLING,
  model: { description: 'Id of a chat model that the key may use.', examples: ['chat-default'] },
  messages: { description: 'The conversation.' },
  max_tokens: {
    description:
      'Maximum tokens of one completion, up to the limit of the model. Default: the default of the model, or its limit.',
  },
  max_completion_tokens: MAX_COMPLETION_TOKENS,
  tools: { description: 'Functions that the model may call.' },
  tool_choice: { description: '`auto`, `none`, `required`, or `{"type":"function","function":{"name":"..."}}`.' },
}

export const CHAT_MESSAGE_FIELDS: DescribedFields = {
  role: {
    description: 'Newer clients send `developer` for `system`; older ones send `function` for `tool`.',
  },
  content: {
    description:
      'A string, or parts: `{"type":"text","text"}`, `{"type":"image_url","image_url":{"url"}}`, and `file`. Only the field that the type names is relayed. Parts of other types are a 400 unless the operator allows them, and so are parts of a kind that the `input_modalities` of the model lack. Only an assistant message may omit the content; that of a function may be null.',
    anyOf: [
      { type: 'string' },
      {
        minItems: 1,
        maxItems: PARTS_MAX,
        type: 'array',
        items: {
          type: 'object',
          properties: { type: { type: 'string' } },
          required: ['type'],
          additionalProperties: true,
        },
      },
      { type: 'null' },
    ],
  },
  name: { description: 'Name of the author. Required for the role `function`: the called function.' },
  tool_calls: { description: 'Calls by an assistant; only for that role.' },
  refusal: { description: 'Why an assistant message refused to go on.' },
  tool_call_id: { description: 'The call that a tool message belongs to. Required for the role `tool`.' },
}

export const CHAT_TOOL_FIELDS: DescribedFields = {
  type: { description: 'Always `function`.' },
  function: { description: 'Name, description, and parameters as a JSON schema.' },
}

const NOT_KEPT = { description: 'Refused: the gateway keeps no responses.' }

const AGENT_TOOLS = {
  description:
    'Functions that the model may call. A web search of the upstream is left out unless the operator allows it; other tools that an upstream would run are a 400.',
}

export const RESPONSES_FIELDS: DescribedFields = {
  model: { description: 'Id of a chat model that the key may use.', examples: ['chat-default'] },
  input: { description: 'A string, or items: messages, calls of functions with their outputs, and reasoning.' },
  instructions: { description: 'What a system message says, before the input.' },
  stream: { description: 'Returns server-sent events.', default: false },
  store: { description: 'Without effect: the gateway keeps no responses.' },
  background: NOT_KEPT,
  previous_response_id: NOT_KEPT,
  conversation: NOT_KEPT,
  prompt: NOT_KEPT,
  max_output_tokens: {
    description:
      'Maximum tokens of the output, up to the limit of the model. Default: the default of the model, or its limit.',
  },
  temperature: { description: 'Sampling temperature. Default: the upstream’s.' },
  top_p: { description: 'Nucleus sampling.' },
  tools: AGENT_TOOLS,
  tool_choice: { description: '`auto`, `none`, `required`, or `{"type":"function","name":"..."}`.' },
  prompt_cache_key: { description: 'Requests with the same key go to the same upstream while it is healthy.' },
}

export const COUNT_TOKENS_FIELDS: DescribedFields = {
  model: { description: 'Id of a chat model that the key may use.', examples: ['chat-default'] },
  messages: { description: 'The conversation.' },
  system: { description: 'A string or text blocks.' },
  tools: AGENT_TOOLS,
  tool_choice: { description: '`{"type":"auto"}`, `any`, `none`, or `{"type":"tool","name":"..."}`.' },
}

export const MESSAGES_FIELDS: DescribedFields = {
  ...COUNT_TOKENS_FIELDS,
  max_tokens: { description: 'Maximum tokens of the message. Above the limit of the model, the limit counts.' },
  stream: { description: 'Returns server-sent events.', default: false },
  temperature: { description: 'Sampling temperature. Default: the upstream’s.' },
  top_p: { description: 'Nucleus sampling.' },
  stop_sequences: { description: 'Strings that end a message.' },
}

const AGENT_FIELDS =
  'All other fields pass to an upstream with this API, except for those that cost more than tokens; on other upstreams those without a counterpart are ignored.'

export const COMPLETION_FIELDS: DescribedFields = {
  ...SAMPLING,
  model: { description: 'Id of a chat model that the key may use.', examples: ['chat-default'] },
  prompt: {
    description: `One string or several, each its own chat call. Prompts times \`n\` are at most ${CHOICES_MAX}. Token ids are a 400.`,
    anyOf: [{ type: 'string' }, { type: 'array', minItems: 1, maxItems: CHOICES_MAX, items: { type: 'string' } }],
  },
  max_tokens: { description: 'Maximum tokens of each completion, up to the limit of the model.', default: 16 },
  max_completion_tokens: MAX_COMPLETION_TOKENS,
  n: { description: 'Completions per prompt. Choice k of prompt i has the index i × `n` + k.', default: 1 },
  echo: { description: 'Puts the prompt in front of each completion.', default: false },
  suffix: { description: 'Appended to each completion.' },
  best_of: { description: 'Refused unless it equals `n`.' },
  logprobs: { description: 'Refused unless it is 0.' },
}

const TOKEN_IDS = { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } }
const TEXT = { type: 'string', minLength: 1 }

export const EMBEDDING_FIELDS: DescribedFields = {
  model: { description: 'Id of an embedding model that the key may use.', examples: ['text-embedding-3-small'] },
  input: {
    description: `A string, a list of token ids, or a list of up to ${INPUTS_MAX} of either; none longer than the limit of the model.`,
    anyOf: [
      TEXT,
      { type: 'array', minItems: 1, maxItems: INPUTS_MAX, items: TEXT },
      TOKEN_IDS,
      { type: 'array', minItems: 1, maxItems: INPUTS_MAX, items: TOKEN_IDS },
    ],
  },
  encoding_format: { description: '`base64` is packed little-endian float32.', default: 'float' },
  dimensions: { description: 'Length of the vectors, up to the default of the model, if the model supports a choice.' },
  user: USER,
}

export const IMAGE_FIELDS: DescribedFields = {
  model: { description: 'Id of an image model that the key may use.', examples: ['image-v3'] },
  prompt: { description: 'Not blank; at most as many characters as the model allows.', minLength: 1, pattern: '\\S' },
  n: { description: 'Number of images, up to the limit of the model.', default: 1 },
  size: {
    description:
      'A size that the model supports, or `auto` for its default. 1536x1024 and 1792x1024 stand for each other, and so do 1024x1536 and 1024x1792.',
    default: '1024x1024',
    examples: ['1024x1024'],
  },
  quality: {
    description:
      '`standard` (the default), or `hd` if the model supports it. `auto` is the default; `low` and `medium` stand for `standard`, `high` for `hd`.',
  },
  style: { description: '`vivid`, or `natural` if the model supports it. Default: the upstream’s.' },
  response_format: { description: 'How images are returned. Default: the upstream’s.' },
  output_format: { description: 'File format. Default: the upstream’s.' },
  output_compression: { description: 'Compression of a JPEG or WebP in percent. Default: the upstream’s.' },
  user: USER,
  stream: { description: 'Images are not streamed.' },
}

/** What a schema can express; core/parameters checks the rest. */
const LINK = { type: 'string', maxLength: 8192, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' }

const IMAGE = {
  anyOf: [
    LINK,
    { type: 'string', pattern: '^[Dd][Aa][Tt][Aa]:[Ii][Mm][Aa][Gg][Ee]/[A-Za-z0-9.+-]+;[Bb][Aa][Ss][Ee]64,' },
  ],
}

const NO_IMAGE = { type: 'string', maxLength: 0 }

/** Describes the fields of `POST /v1/video/generations`, and the checks that its zod schema does not express. */
export const VIDEO_JOB_FIELDS: DescribedFields = {
  model: { description: 'Id of a video model that the key may use.', examples: ['famB-1.1-t2v'] },
  prompt: {
    description: `Not blank. At most ${PROMPT_UNITS_MAX} units: a Chinese, Japanese or Korean character counts as 2, any other as 1.`,
    minLength: 1,
    maxLength: PROMPT_UNITS_MAX,
    pattern: '\\S',
  },
  duration: {
    description: 'Seconds, within the range of the model. Only a wish for an edit, which follows its input.',
  },
  resolution: {
    description: '`480P`, `720P` or `1080P`, in upper or lower case, if the model supports it. Default: the model’s.',
    pattern: '^(480|720|1080)[Pp]$',
    examples: ['720P'],
  },
  aspect_ratio: { description: 'A wish that some upstreams ignore.' },
  generate_audio: { description: 'Sent if the upstream has the choice. Default: the model’s.' },
  watermark: { description: 'Whether the upstream may put its watermark on the video.' },
  fps: { description: 'Frames per second. Accepted, but no upstream uses it.' },
  image_urls: {
    description:
      'Images, as urls or as `data:image/...;base64,...`. The model limits their number. A single image is the first frame.',
    items: IMAGE,
  },
  image_url: {
    description:
      'Older name for one image: counts as `image_urls[0]` if `image_urls` is empty. An empty string counts as none.',
    anyOf: [...IMAGE.anyOf, NO_IMAGE],
    type: undefined,
  },
  video_urls: { description: 'Videos, as urls. The model limits their number.', items: LINK },
  audio_urls: { description: 'Audio files, as urls, together with an image or a video.', items: LINK },
  callback_url: {
    description: 'The result is posted here once. An https url with a host on the operator’s allowlist.',
    maxLength: 2048,
    format: 'uri',
  },
}

/** Parts of bodies, which are named schemas of the document. The bodies themselves are inline in their operations. */
const PARTS = ['ChatMessage', 'ChatTool'] as const satisfies readonly (keyof typeof REQUESTS)[]

/** Fields that a handler reads without a zod schema. */
const READ_BY_HAND: Readonly<Record<string, readonly string[]>> = { CreateEmbeddingRequest: ['input'] }

/** Lists the other relayed fields of the OpenAI API, and says what happens to the rest. */
function relayed(list: AllowedList, schema: { readonly shape: object }, byHand: readonly string[] = []): string {
  const described = new Set([...Object.keys(schema.shape), ...byHand])
  const more = [...listedFields(list).fields.keys()].filter((name) => !described.has(name))
  const relayed = more.length === 0 ? '' : `Also relayed: ${more.map((name) => `\`${name}\``).join(', ')}. `
  return `${relayed}All other fields are ignored unless the operator allows them. A duplicate field is a 400.`
}

const REQUESTS = {
  CreateVideoJobRequest: {
    schema: videoJobBodySchema,
    fields: VIDEO_JOB_FIELDS,
    description: 'Unknown fields are ignored.',
  },
  CreateChatCompletionRequest: {
    schema: chatBodySchema,
    fields: CHAT_FIELDS,
    description: relayed('chat', chatBodySchema),
  },
  ChatMessage: { schema: chatMessageSchema, fields: CHAT_MESSAGE_FIELDS, description: 'One message.' },
  ChatTool: { schema: chatToolSchema, fields: CHAT_TOOL_FIELDS, description: 'A function that the model may call.' },
  CreateResponseRequest: { schema: responsesBodySchema, fields: RESPONSES_FIELDS, description: AGENT_FIELDS },
  CreateMessageRequest: { schema: messagesBodySchema, fields: MESSAGES_FIELDS, description: AGENT_FIELDS },
  CountMessageTokensRequest: {
    schema: countTokensBodySchema,
    fields: COUNT_TOKENS_FIELDS,
    description: AGENT_FIELDS,
  },
  CreateCompletionRequest: {
    schema: completionBodySchema,
    fields: COMPLETION_FIELDS,
    description: relayed('completions', completionBodySchema),
  },
  CreateEmbeddingRequest: {
    schema: embeddingBodySchema,
    fields: EMBEDDING_FIELDS,
    description: relayed('embeddings', embeddingBodySchema, READ_BY_HAND.CreateEmbeddingRequest),
  },
  CreateImageRequest: {
    schema: imageBodySchema,
    fields: IMAGE_FIELDS,
    description: relayed('images', imageBodySchema),
  },
} as const

/** The named parts of request bodies. @throws TypeError like `requestBodySchema`. */
export function requestPartSchemas(): Record<string, JsonSchema> {
  const schemas = requestSchemas()
  return Object.fromEntries(PARTS.map((name) => [name, schemas[name] ?? {}]))
}

/**
 * The schema of a request body, as its validator accepts it. It is inline in its operation, with its name as title: in a named
 * schema, client generators would require fields that have a default.
 * @throws TypeError for a field without a description, or a description without a field.
 */
export function requestBodySchema(name: string): JsonSchema {
  return { title: name, ...requestSchemas()[name] }
}

function requestSchemas(): Record<string, JsonSchema> {
  const named = Object.fromEntries(Object.entries(REQUESTS).map(([name, { schema }]) => [name, schema]))
  const schemas = toJsonSchemas(named, 'input')
  return Object.fromEntries(
    Object.entries(REQUESTS).map(([name, { description, fields }]) => {
      const { properties, required, ...schema } = schemas[name] ?? {}
      const byHand = READ_BY_HAND[name] ?? []
      const all = { ...Object(properties), ...Object.fromEntries(byHand.map((field) => [field, {}])) }
      const known = Array.isArray(required) ? required : []
      return [
        name,
        { description, ...schema, properties: describe(name, all, fields), required: [...known, ...byHand] },
      ]
    }),
  )
}

function describe(
  name: string,
  properties: Readonly<Record<string, JsonSchema>>,
  fields: DescribedFields,
): Record<string, JsonSchema> {
  const unknown = Object.keys(fields).filter((field) => properties[field] === undefined)
  if (unknown.length > 0) {
    throw new TypeError(`${name} has no ${unknown.join(', ')}`)
  }
  return Object.fromEntries(
    Object.entries(properties).map(([field, schema]) => {
      const { description, ...more } = fields[field] ?? {}
      if (description === undefined) {
        throw new TypeError(`${name}.${field} has no description`)
      }
      return [field, { description, ...schema, ...more }]
    }),
  )
}
