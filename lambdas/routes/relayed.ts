import { MODEL_ENDPOINTS } from '../core/api/paths.ts'
import { defineRoute, type RouteNeeds } from './define-route.ts'

/** Reserves, relays and settles. Without streaming, API Gateway gives up after 29 seconds, and the function continues to settle. */
const RELAY = {
  table: [
    // `BAL#*` and `NU#*`: of a request that names a user.
    { actions: ['GetItem'], partitions: ['BAL#*', 'NU#*', 'SWITCHES'] },
    // The relay server writes reservations and settlements of a tenant in one transaction.
    {
      actions: ['PutItem', 'UpdateItem', 'ConditionCheckItem'],
      partitions: ['BAL#*', 'BUDGET#*', 'K#*', 'L#*', 'T#*', 'U#*'],
    },
    { actions: ['PutItem', 'UpdateItem'], partitions: ['NU#*'] },
  ],
  transacts: true,
  readsConfiguration: true,
  callsUpstreams: 'relayed',
} as const satisfies RouteNeeds

export const createChatCompletion = /* @__PURE__ */ defineRoute({
  operation: 'create-chat-completion',
  method: 'POST',
  path: MODEL_ENDPOINTS.chat.path,
  input: 'CreateChatCompletionRequest',
  output: 'ChatCompletion',
  relays: true,
  // A chat holds 32 MiB at most, and mostly waits: the time that Lambda bills is the upstream's.
  needs: { ...RELAY, memoryMegabytes: 512 },
})

export const createResponse = /* @__PURE__ */ defineRoute({
  operation: 'create-response',
  method: 'POST',
  path: MODEL_ENDPOINTS.responses.path,
  input: 'CreateResponseRequest',
  output: 'Response',
  relays: true,
  needs: { ...RELAY, memoryMegabytes: 512 },
})

export const createMessage = /* @__PURE__ */ defineRoute({
  operation: 'create-message',
  method: 'POST',
  path: MODEL_ENDPOINTS.messages.path,
  query: ['beta'],
  input: 'CreateMessageRequest',
  output: 'Message',
  relays: true,
  needs: { ...RELAY, memoryMegabytes: 512 },
})

export const countMessageTokens = /* @__PURE__ */ defineRoute({
  operation: 'count-message-tokens',
  method: 'POST',
  path: `${MODEL_ENDPOINTS.messages.path}/count_tokens`,
  query: ['beta'],
  input: 'CountMessageTokensRequest',
  output: 'MessageTokenCount',
  relays: 'free',
  needs: {
    table: [{ actions: ['GetItem'], partitions: ['SWITCHES'] }],
    // Its process can write to the ledger, as those of the other relayed routes.
    transacts: true,
    readsConfiguration: true,
    callsUpstreams: 'relayed',
    memoryMegabytes: 512,
  },
})

export const createCompletion = /* @__PURE__ */ defineRoute({
  operation: 'create-completion',
  method: 'POST',
  path: MODEL_ENDPOINTS.completions.path,
  input: 'CreateCompletionRequest',
  output: 'Completion',
  relays: true,
  // Here and below: room for the largest replies that are held whole, for which 440 to 740 MB were measured.
  needs: RELAY,
})

export const createEmbedding = /* @__PURE__ */ defineRoute({
  operation: 'create-embedding',
  method: 'POST',
  path: MODEL_ENDPOINTS.embeddings.path,
  input: 'CreateEmbeddingRequest',
  output: 'EmbeddingList',
  relays: true,
  needs: { ...RELAY, shipsTokenizer: true },
})

export const createImage = /* @__PURE__ */ defineRoute({
  operation: 'create-image',
  method: 'POST',
  path: MODEL_ENDPOINTS.images.path,
  input: 'CreateImageRequest',
  output: 'ImageList',
  relays: true,
  needs: RELAY,
})

/** The routes that relay requests, in the order of the OpenAPI document. */
export const RELAYED_ROUTES = [
  createChatCompletion,
  createResponse,
  createMessage,
  countMessageTokens,
  createCompletion,
  createEmbedding,
  createImage,
] as const
