import { type AllowedList, listedFields } from '#core/allowed-fields.ts'
import {
  messageEventResponse,
  messageResponse,
  messageTokenCountResponse,
  responseEventResponse,
  responseResponse,
} from '#core/api/agent-responses.ts'
import { CHOICES_MAX, chatBodySchema, chatMessageSchema, chatToolSchema } from '#core/api/chat-request.ts'
import { completionBodySchema } from '#core/api/completion-request.ts'
import { PARTS_MAX } from '#core/api/content-parts.ts'
import { embeddingBodySchema, INPUTS_MAX } from '#core/api/embedding-request.ts'
import { imageBodySchema } from '#core/api/image-request.ts'
import { countTokensBodySchema, messagesBodySchema } from '#core/api/messages-request.ts'
import {
  chatCompletionChunk,
  chatCompletionResponse,
  completionResponse,
  embeddingResponse,
  imageResponse,
  tokenUsageResponse,
} from '#core/api/responses.ts'
import { responsesBodySchema } from '#core/api/responses-request.ts'
import type { DescribedFields, NamedSchemas, Parameter, RequestDocument } from './openapi-types.ts'
import type { OperationDocument } from './operations.ts'

const SESSION: Parameter = {
  name: 'X-Session-ID',
  in: 'header',
  description: 'Requests with the same value go to the same upstream while it is healthy.',
  schema: { type: 'string' },
  example: 'conversation-7',
}

const ANTHROPIC_VERSION: Parameter = {
  name: 'anthropic-version',
  in: 'header',
  description: 'For upstreams with this API. Default: `2023-06-01`.',
  schema: { type: 'string' },
  example: '2023-06-01',
}

const ANTHROPIC_BETA: Parameter = {
  name: 'anthropic-beta',
  in: 'header',
  description: 'For upstreams with this API.',
  schema: { type: 'string' },
}

const BETA: Parameter = {
  name: 'beta',
  in: 'query',
  description: 'Sent by some clients; without effect.',
  schema: { type: 'string' },
}

const BILLED =
  'Reserves an upper bound of the price, then bills the usage that the upstream reports. A request that fails before its first byte is free.'

/** The groups of relayed operations, in display order. */
export const RELAY_TAGS = {
  Chat: 'Chat completions, whole or streamed.',
  Responses: 'Responses of the OpenAI API, whole or streamed. The gateway keeps none.',
  Messages: 'Messages of the Anthropic API, whole or streamed.',
  Completions: 'Legacy text completions, made by chat models.',
  Embeddings: 'Vectors of strings.',
  Images: 'Images from prompts.',
} as const

/** The routes that relay requests to an upstream. */
export const RELAY_OPERATIONS = {
  'create-chat-completion': {
    tag: 'Chat',
    summary: 'Create a chat completion',
    description: BILLED,
    parameters: [SESSION],
    response: {
      description: 'The completion, or its events with `stream`.',
      events: 'ChatCompletionChunk',
    },
  },
  'create-response': {
    tag: 'Responses',
    summary: 'Create a response',
    description: `Relayed to an upstream with this API, or translated for one that speaks chat or messages. ${BILLED}`,
    parameters: [SESSION],
    response: {
      description: 'The response, or its events with `stream`.',
      events: 'ResponseEvent',
      stream:
        'Each has its type as its event, and one JSON object of the schema as its data. A stream ends with `response.completed`, `response.incomplete`, `response.failed` or `error`.',
    },
  },
  'create-message': {
    tag: 'Messages',
    summary: 'Create a message',
    description: `Relayed to an upstream with this API, or translated for one that speaks chat. The key may stand in \`x-api-key\`. A \`max_tokens\` above the limit of the model is lowered to it. ${BILLED}`,
    parameters: [SESSION, ANTHROPIC_VERSION, ANTHROPIC_BETA, BETA],
    response: {
      description: 'The message, or its events with `stream`.',
      events: 'MessageEvent',
      stream:
        'Each has its type as its event, and one JSON object of the schema as its data. A stream ends with `message_stop` or `error`.',
    },
  },
  'count-message-tokens': {
    tag: 'Messages',
    summary: 'Count the tokens of a prompt',
    description: 'Free, and counted against the rate of the key. Takes the body of a message without `max_tokens`.',
    parameters: [ANTHROPIC_VERSION, ANTHROPIC_BETA, BETA],
    response: { description: 'The count.' },
  },
  'create-completion': {
    tag: 'Completions',
    summary: 'Create text completions',
    description: `Each prompt becomes one chat call. If one prompt fails, the whole list fails. ${BILLED}`,
    parameters: [SESSION],
    response: {
      description: 'The completions of all prompts, or their events with `stream`.',
      events: 'Completion',
    },
  },
  'create-embedding': {
    tag: 'Embeddings',
    summary: 'Create embeddings',
    description: BILLED,
    parameters: [SESSION],
    response: { description: 'One vector per input.' },
  },
  'create-image': {
    tag: 'Images',
    summary: 'Create images',
    description: `A prompt that violates the content policy of the upstream is a 400 with the upstream’s message. ${BILLED}`,
    parameters: [SESSION],
    response: { description: 'The images.' },
  },
} as const satisfies Readonly<Record<string, OperationDocument>>

/** The responses of relayed routes, and the data of their events, by their names in the document. */
export const RELAY_SCHEMAS: NamedSchemas = {
  ChatCompletion: chatCompletionResponse,
  ChatCompletionChunk: chatCompletionChunk,
  TokenUsage: tokenUsageResponse,
  Response: responseResponse,
  ResponseEvent: responseEventResponse,
  Message: messageResponse,
  MessageEvent: messageEventResponse,
  MessageTokenCount: messageTokenCountResponse,
  Completion: completionResponse,
  EmbeddingList: embeddingResponse,
  ImageList: imageResponse,
}

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

const CHAT_FIELDS: DescribedFields = {
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

const CHAT_MESSAGE_FIELDS: DescribedFields = {
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

const CHAT_TOOL_FIELDS: DescribedFields = {
  type: { description: 'Always `function`.' },
  function: { description: 'Name, description, and parameters as a JSON schema.' },
}

const NOT_KEPT = { description: 'Refused: the gateway keeps no responses.' }

const AGENT_TOOLS = {
  description:
    'Functions that the model may call. A web search of the upstream is left out unless the operator allows it; other tools that an upstream would run are a 400.',
}

const RESPONSES_FIELDS: DescribedFields = {
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

const COUNT_TOKENS_FIELDS: DescribedFields = {
  thread: { description: 'Not kept: send the whole conversation as `messages`.' },
  model: { description: 'Id of a chat model that the key may use.', examples: ['chat-default'] },
  messages: { description: 'The conversation.' },
  system: { description: 'A string or text blocks.' },
  tools: AGENT_TOOLS,
  tool_choice: { description: '`{"type":"auto"}`, `any`, `none`, or `{"type":"tool","name":"..."}`.' },
}

const MESSAGES_FIELDS: DescribedFields = {
  ...COUNT_TOKENS_FIELDS,
  compaction: { description: 'Refused: an upstream bills a compaction beyond the usage that it reports.' },
  max_tokens: { description: 'Maximum tokens of the message. Above the limit of the model, the limit counts.' },
  stream: { description: 'Returns server-sent events.', default: false },
  temperature: { description: 'Sampling temperature. Default: the upstream’s.' },
  top_p: { description: 'Nucleus sampling.' },
  stop_sequences: { description: 'Strings that end a message.' },
}

const AGENT_FIELDS =
  'All other fields pass to an upstream with this API, except for those that cost more than tokens; on other upstreams those without a counterpart are ignored.'

const COMPLETION_FIELDS: DescribedFields = {
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

const EMBEDDING_FIELDS: DescribedFields = {
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

const IMAGE_FIELDS: DescribedFields = {
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

/** Lists the other relayed fields of the OpenAI API, and says what happens to the rest. */
function relayed(list: AllowedList, schema: { readonly shape: object }, byHand: readonly string[] = []): string {
  const described = new Set([...Object.keys(schema.shape), ...byHand])
  const more = [...listedFields(list).fields.keys()].filter((name) => !described.has(name))
  const relayed = more.length === 0 ? '' : `Also relayed: ${more.map((name) => `\`${name}\``).join(', ')}. `
  return `${relayed}All other fields are ignored unless the operator allows them. A duplicate field is a 400.`
}

/** The bodies of relayed routes and their parts, by name. */
export const RELAY_REQUESTS: Readonly<Record<string, RequestDocument>> = {
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
    description: relayed('embeddings', embeddingBodySchema, ['input']),
    byHand: ['input'],
  },
  CreateImageRequest: {
    schema: imageBodySchema,
    fields: IMAGE_FIELDS,
    description: relayed('images', imageBodySchema),
  },
}
