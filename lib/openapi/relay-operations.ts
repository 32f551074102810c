import type { Parameter } from './openapi-types.ts'
import type { OperationDocument } from './operation-document.ts'

const SESSION: Parameter = {
  name: 'X-Session-ID',
  in: 'header',
  description: 'Requests with the same value go to the same upstream while it is healthy.',
  schema: { type: 'string' },
  example: 'conversation-7',
}

const BILLED =
  'Reserves an upper bound of the price, then bills the usage that the upstream reports. A request that fails before its first byte is free.'

/** The routes that relay requests to an upstream. */
export const RELAY_OPERATIONS = {
  'create-chat-completion': {
    tag: 'Chat',
    summary: 'Create a chat completion',
    description: BILLED,
    parameters: [SESSION],
    request: 'CreateChatCompletionRequest',
    response: {
      description: 'The completion, or its events with `stream`.',
      schema: 'ChatCompletion',
      events: 'ChatCompletionChunk',
    },
  },
  'create-completion': {
    tag: 'Completions',
    summary: 'Create text completions',
    description: `Each prompt becomes one chat call. If one prompt fails, the whole list fails. ${BILLED}`,
    parameters: [SESSION],
    request: 'CreateCompletionRequest',
    response: {
      description: 'The completions of all prompts, or their events with `stream`.',
      schema: 'Completion',
      events: 'Completion',
    },
  },
  'create-embedding': {
    tag: 'Embeddings',
    summary: 'Create embeddings',
    description: BILLED,
    parameters: [SESSION],
    request: 'CreateEmbeddingRequest',
    response: { description: 'One vector per input.', schema: 'EmbeddingList' },
  },
  'create-image': {
    tag: 'Images',
    summary: 'Create images',
    description: `A prompt that violates the content policy of the upstream is a 400 with the upstream’s message. ${BILLED}`,
    parameters: [SESSION],
    request: 'CreateImageRequest',
    response: { description: 'The images.', schema: 'ImageList' },
  },
} as const satisfies Readonly<Record<string, OperationDocument>>
