import { CHOICES_MAX } from '#core/contract/chat-body.ts'
import { PARTS_MAX } from '#core/contract/content-parts.ts'
import { INPUTS_MAX } from '#core/contract/embedding-request.ts'
import type { DescribedMembers } from './json-schema.ts'

const USER = { description: 'Identifier of an end user, for the upstream.' }

const SAMPLING: DescribedMembers = {
  stream: { description: 'Answers with server-sent events.', default: false },
  temperature: { description: 'Left out, the default of the upstream.' },
  max_tokens: { description: 'Most tokens of one completion; at most what the model makes.' },
  top_p: { description: 'Nucleus sampling.' },
  n: { description: 'Completions.', default: 1 },
  stop: { description: 'Texts that end a completion.' },
  presence_penalty: { description: 'Against words that were there before.' },
  frequency_penalty: { description: 'Against words by how often they were there.' },
  user: USER,
  stream_options: { description: '`include_usage`: one more event with the usage at the end of a stream.' },
}

const MAX_COMPLETION_TOKENS = { description: 'The newer name of `max_tokens`.' }

export const CHAT_MEMBERS: DescribedMembers = {
  ...SAMPLING,
  model: { description: 'Id of a chat model that the key may use.', examples: ['chat-default'] },
  messages: { description: 'The conversation.' },
  max_tokens: {
    description: 'Most tokens of one completion; at most what the model makes, which counts where it is left out.',
  },
  max_completion_tokens: MAX_COMPLETION_TOKENS,
  tools: { description: 'Functions that the model may call.' },
  tool_choice: { description: '`auto`, `none`, `required`, or `{"type":"function","function":{"name":"..."}}`.' },
}

export const CHAT_MESSAGE_MEMBERS: DescribedMembers = {
  role: {
    description: '`developer` is what newer clients write for `system`, `function` what older ones write for `tool`.',
  },
  content: {
    description:
      'A text, or parts: `{"type":"text","text"}`, `{"type":"image_url","image_url":{"url"}}`, and `file`. Of a part only the field that its type names is relayed; a part of another type is refused, unless the operator lets it pass. Only an assistant may leave it out; of a function it may be null.',
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
  name: { description: 'Name of the writer; of a function, required: the function that was called.' },
  tool_calls: { description: 'Calls that an assistant made; of no other role.' },
  tool_call_id: { description: 'Of a tool, required: the call that it answers.' },
}

export const CHAT_TOOL_MEMBERS: DescribedMembers = {
  type: { description: 'There is one type.' },
  function: { description: 'Name, description, and parameters as a JSON schema.' },
}

export const COMPLETION_MEMBERS: DescribedMembers = {
  ...SAMPLING,
  model: { description: 'Id of a chat model that the key may use.', examples: ['chat-default'] },
  prompt: {
    description: `One text or several, each a chat call of its own. Prompts times \`n\` are ${CHOICES_MAX} at most. Token ids are refused.`,
    anyOf: [{ type: 'string' }, { type: 'array', minItems: 1, maxItems: CHOICES_MAX, items: { type: 'string' } }],
  },
  max_tokens: { description: 'Most tokens of each completion; at most what the model makes.', default: 16 },
  max_completion_tokens: MAX_COMPLETION_TOKENS,
  n: { description: 'Completions of each prompt: choice k of prompt i has the index i times `n` and k.', default: 1 },
  echo: { description: 'Puts the prompt before each completion.', default: false },
  suffix: { description: 'Stands after each completion.' },
  best_of: { description: 'Refused, unless it is the same as `n`.' },
  logprobs: { description: 'Refused, unless it is 0.' },
}

const TOKEN_IDS = { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } }
const TEXT = { type: 'string', minLength: 1 }

export const EMBEDDING_MEMBERS: DescribedMembers = {
  model: { description: 'Id of an embedding model that the key may use.', examples: ['text-embedding-3-small'] },
  input: {
    description: `A text, a list of token ids, or a list of up to ${INPUTS_MAX} of either; none longer than the model takes.`,
    anyOf: [
      TEXT,
      { type: 'array', minItems: 1, maxItems: INPUTS_MAX, items: TEXT },
      TOKEN_IDS,
      { type: 'array', minItems: 1, maxItems: INPUTS_MAX, items: TOKEN_IDS },
    ],
  },
  encoding_format: { description: '`base64` is packed little-endian float32.', default: 'float' },
  dimensions: { description: 'Length of the vectors, where the model lets one choose: at most its own.' },
  user: USER,
}

export const IMAGE_MEMBERS: DescribedMembers = {
  model: { description: 'Id of an image model that the key may use.', examples: ['image-v3'] },
  prompt: { description: 'Not blank; at most as many characters as the model takes.', minLength: 1, pattern: '\\S' },
  n: { description: 'Images; at most as many as the model makes.', default: 1 },
  size: { description: 'One that the model has.', default: '1024x1024', examples: ['1024x1024'] },
  quality: {
    description:
      'One that the model has: `standard` or `hd`; `standard` where it is left out. A model without qualities takes `standard`.',
  },
  style: { description: 'One that the model has: `vivid` or `natural`. A model without styles takes `vivid`.' },
  response_format: { description: 'Left out, the default of the upstream.' },
  output_format: { description: 'Left out, the default of the upstream.' },
  output_compression: { description: 'Percent, of a JPEG or a WebP. Left out, the default of the upstream.' },
  user: USER,
  stream: { description: 'Images are not streamed.' },
}
