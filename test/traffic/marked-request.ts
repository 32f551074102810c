/** Public names of the models. */
export const MODELS = {
  chat: 'traffic-chat',
  dear: 'traffic-dear',
  embedding: 'traffic-embedding',
  image: 'traffic-image',
}

/** What a request says of itself wherever it can: in its prompt, and so in its response. */
export type Mark = {
  /** Number of the tenant. */
  readonly tenant: number
  /** Number of the request, over all tenants. */
  readonly request: number
}

/** Such as `mark-3-1207.`; the full stop ends the number wherever the string is cut. */
export function formatMark({ tenant, request }: Mark): string {
  return `mark-${tenant}-${request}.`
}

const MARKS = /mark-\d+-\d+\./g

/** Every mark of a string, in order. */
export function marksIn(string: string): readonly string[] {
  return string.match(MARKS) ?? []
}

/** The mark that a string has first. @throws RangeError without one. */
export function readMark(string: string): Mark {
  const [, tenant, request] = /mark-(\d+)-(\d+)\./.exec(string) ?? []
  if (tenant === undefined || request === undefined) {
    throw new RangeError('the request has no mark')
  }
  return { tenant: Number(tenant), request: Number(request) }
}

/** Prices of the models of marked traffic, in microcredits. */
export const PRICE_MICROCREDITS = { inputToken: 10, outputToken: 20, image: 20_000 } as const

/** Above every count of output. */
export const OUTPUT_TOKENS_MAX = 1_000

const IMAGES_MAX = 4

/** Tokens of the input: its own number for each tenant. */
export function inputTokens({ tenant }: Mark): number {
  return 10 + tenant
}

/** Tokens of the output: neighbouring requests have different ones. */
export function outputTokens({ request }: Mark): number {
  return 1 + (request % OUTPUT_TOKENS_MAX)
}

/** Images that a request asks for. */
export function imageCount({ request }: Mark): number {
  return 1 + (request % IMAGES_MAX)
}

/** What a chat or a completion costs, in microcredits. */
export function chatCost(mark: Mark): number {
  return inputTokens(mark) * PRICE_MICROCREDITS.inputToken + outputTokens(mark) * PRICE_MICROCREDITS.outputToken
}

/** What an embedding costs, in microcredits. */
export function embeddingCost(mark: Mark): number {
  return inputTokens(mark) * PRICE_MICROCREDITS.inputToken
}

/** What the images of a request cost, in microcredits. */
export function imageCost(mark: Mark): number {
  return imageCount(mark) * PRICE_MICROCREDITS.image
}

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
