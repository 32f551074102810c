import { formatMark, type Mark } from './mark.ts'
import { chatCost, embeddingCost, imageCost, imageCount, OUTPUT_TOKENS_MAX } from './marked-usage.ts'
import { MODELS } from './traffic-config.ts'

/** A kind of request, in the words of the ledger where it is billed. */
type Kind = {
  readonly operation: string
  readonly path: (mark: Mark) => string
  /** Undefined for a GET. */
  readonly body?: (mark: Mark) => object
  readonly status: number
  /** In microcredits; undefined for a request that is not billed. */
  readonly cost?: ((mark: Mark) => number) | undefined
  /** Model that the response and the ledger name. */
  readonly model?: string | undefined
  readonly isStream?: boolean
}

/** A prompt of a few hundred tokens: what an upstream reports is never more than what was reserved. */
const PADDING = 'and some words more '.repeat(20)

const chatOf = (mark: Mark) => ({
  model: MODELS.chat,
  messages: [{ role: 'user', content: `Repeat ${formatMark(mark)} ${PADDING}` }],
  max_tokens: OUTPUT_TOKENS_MAX,
})
const completionOf = (mark: Mark) => ({
  model: MODELS.chat,
  prompt: `Repeat ${formatMark(mark)} ${PADDING}`,
  max_tokens: OUTPUT_TOKENS_MAX,
})
const streamed = { stream: true, stream_options: { include_usage: true } }

const CHAT: Kind = {
  operation: 'create-chat-completion',
  path: () => '/v1/chat/completions',
  body: chatOf,
  status: 200,
  cost: chatCost,
  model: MODELS.chat,
}
const COMPLETION: Kind = {
  ...CHAT,
  operation: 'create-completion',
  path: () => '/v1/completions',
  body: completionOf,
}

/** Every kind of request that the relay server serves, and the refusals that repeat something of the request. */
const KINDS = {
  chat: CHAT,
  'chat stream': { ...CHAT, body: (mark) => ({ ...chatOf(mark), ...streamed }), isStream: true },
  completion: COMPLETION,
  'completion stream': { ...COMPLETION, body: (mark) => ({ ...completionOf(mark), ...streamed }), isStream: true },
  embedding: {
    operation: 'create-embedding',
    path: () => '/v1/embeddings',
    body: (mark) => ({ model: MODELS.embedding, input: `Embed ${formatMark(mark)} ${PADDING}` }),
    status: 200,
    cost: embeddingCost,
    model: MODELS.embedding,
  },
  image: {
    operation: 'create-image',
    path: () => '/v1/images/generations',
    body: (mark) => ({ model: MODELS.image, prompt: `Draw ${formatMark(mark)}`, n: imageCount(mark) }),
    status: 200,
    cost: imageCost,
    model: MODELS.image,
  },
  'ignored field': { ...CHAT, body: (mark) => ({ ...chatOf(mark), [formatMark(mark)]: 1 }) },
  'unknown model': {
    ...CHAT,
    body: (mark) => ({ ...chatOf(mark), model: formatMark(mark) }),
    status: 404,
    cost: undefined,
    model: undefined,
  },
  'too expensive': {
    ...CHAT,
    body: (mark) => ({ ...chatOf(mark), model: MODELS.dear, user: formatMark(mark) }),
    status: 402,
    cost: undefined,
    model: undefined,
  },
  models: { operation: 'list-models', path: () => '/v1/models', status: 200 },
  model: { operation: 'get-model', path: () => `/v1/models/${MODELS.chat}`, status: 200, model: MODELS.chat },
} as const satisfies Readonly<Record<string, Kind>>

/** The name of a kind of request. */
export type KindName = keyof typeof KINDS

/** What is known of a kind of request. */
export function kindOf(name: KindName): Kind {
  return KINDS[name]
}

const NAMES = Object.keys(KINDS) as KindName[]

/** One kind after the other, so that every tenant sends all of them. */
export function kindNameOf({ tenant, request }: Mark): KindName {
  return NAMES[(request + tenant) % NAMES.length] ?? 'chat'
}
