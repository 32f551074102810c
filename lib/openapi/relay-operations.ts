import type { Parameter } from './openapi-types.ts'
import type { HeaderName, OperationDocument } from './operation-document.ts'

const SESSION: Parameter = {
  name: 'X-Session-ID',
  in: 'header',
  description: 'Requests with the same value go to the same upstream, as long as that one is in order.',
  schema: { type: 'string' },
  example: 'conversation-7',
}

const IGNORED: readonly HeaderName[] = ['x-reelgate-ignored']

const BILLED =
  'An upper bound of the price is locked while the request runs; what the upstream reports is billed. A request that fails before its first byte costs nothing.'

/** The routes whose requests go on to an upstream as they come. */
export const RELAY_OPERATIONS = {
  'create-chat-completion': {
    tag: 'Chat',
    summary: 'Create a chat completion',
    description: BILLED,
    parameters: [SESSION],
    request: 'CreateChatCompletionRequest',
    answer: {
      description: 'The completion, or with `stream` its events.',
      schema: 'ChatCompletion',
      events: 'ChatCompletionChunk',
      headers: IGNORED,
    },
  },
  'create-completion': {
    tag: 'Completions',
    summary: 'Create text completions',
    description: `Each prompt becomes one chat call; a list fails as a whole. ${BILLED}`,
    parameters: [SESSION],
    request: 'CreateCompletionRequest',
    answer: {
      description: 'The completions of all prompts, or with `stream` their events as they come.',
      schema: 'Completion',
      events: 'Completion',
      headers: IGNORED,
    },
  },
  'create-embedding': {
    tag: 'Embeddings',
    summary: 'Create embeddings',
    description: BILLED,
    parameters: [SESSION],
    request: 'CreateEmbeddingRequest',
    answer: { description: 'A vector for each input.', schema: 'EmbeddingList', headers: IGNORED },
  },
  'create-image': {
    tag: 'Images',
    summary: 'Create images',
    description: `A prompt that the content policy of the upstream forbids is a 400 in its own words. ${BILLED}`,
    parameters: [SESSION],
    request: 'CreateImageRequest',
    answer: { description: 'The images.', schema: 'ImageList', headers: IGNORED },
  },
} as const satisfies Readonly<Record<string, OperationDocument>>
