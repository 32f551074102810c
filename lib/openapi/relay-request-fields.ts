import { CHOICES_MAX } from '#core/api/chat-request.ts'
import { PARTS_MAX } from '#core/api/content-parts.ts'
import { INPUTS_MAX } from '#core/api/embedding-request.ts'
import type { DescribedFields } from './json-schema.ts'

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
  tool_call_id: { description: 'The call that a tool message belongs to. Required for the role `tool`.' },
}

export const CHAT_TOOL_FIELDS: DescribedFields = {
  type: { description: 'Always `function`.' },
  function: { description: 'Name, description, and parameters as a JSON schema.' },
}

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
  size: { description: 'A size that the model supports.', default: '1024x1024', examples: ['1024x1024'] },
  quality: {
    description: '`standard` (the default), or `hd` if the model supports it.',
  },
  style: { description: '`vivid`, or `natural` if the model supports it. Default: the upstream’s.' },
  response_format: { description: 'How images are returned. Default: the upstream’s.' },
  output_format: { description: 'File format. Default: the upstream’s.' },
  output_compression: { description: 'Compression of a JPEG or WebP in percent. Default: the upstream’s.' },
  user: USER,
  stream: { description: 'Images are not streamed.' },
}
