import { writeFileSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as openRequest } from 'node:http'
import { gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { parseCredits } from '#core/money.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import type { Table } from '#store/table/table.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'

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

const promptOf = (mark: Mark) => `Repeat ${formatMark(mark)} ${PADDING}`

const chatOf = (mark: Mark) => ({
  model: MODELS.chat,
  messages: [{ role: 'user', content: promptOf(mark) }],
  max_tokens: OUTPUT_TOKENS_MAX,
})
const completionOf = (mark: Mark) => ({
  model: MODELS.chat,
  prompt: promptOf(mark),
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

/** Requests of every route of the relay server but the free count of tokens, and the refusals that repeat something of the request. */
const KINDS = {
  chat: CHAT,
  'chat stream': { ...CHAT, body: (mark) => ({ ...chatOf(mark), ...streamed }), isStream: true },
  completion: COMPLETION,
  'completion stream': { ...COMPLETION, body: (mark) => ({ ...completionOf(mark), ...streamed }), isStream: true },
  response: {
    ...CHAT,
    operation: 'create-response',
    path: () => '/v1/responses',
    body: (mark) => ({ model: MODELS.chat, input: promptOf(mark), max_output_tokens: OUTPUT_TOKENS_MAX }),
  },
  message: { ...CHAT, operation: 'create-message', path: () => '/v1/messages' },
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

/** Two channels for each model, so that every request is routed. */
const CHANNELS = ['first', 'second']

/** Credits for a million tokens are microcredits for one. */
const CHAT_PRICES = {
  input_per_million: String(PRICE_MICROCREDITS.inputToken),
  output_per_million: String(PRICE_MICROCREDITS.outputToken),
}

/** No tenant of the traffic can pay a request of this model. */
const DEAR_PRICES = { input_per_million: '1', output_per_million: '1000000000' }

/** Writes a gateway configuration whose models are served by one upstream. Breakers that faults open stay open for a second. */
export function writeTrafficConfig(file: string, upstreamOrigin: string): void {
  const chat = { kind: 'chat', billing: 'token', context_tokens: 8_192, max_output_tokens: OUTPUT_TOKENS_MAX }
  const upstreamModels = Object.fromEntries(Object.values(MODELS).map((model) => [model, `upstream-${model}`]))
  const config = {
    channels: CHANNELS.map((id) => ({
      id,
      provider: 'openai',
      base_url: `${upstreamOrigin}/v1`,
      models: upstreamModels,
      breaker: { failures: 1_000 },
    })),
    models: [
      { ...chat, id: MODELS.chat, prices: [CHAT_PRICES] },
      { ...chat, id: MODELS.dear, prices: [DEAR_PRICES] },
      {
        id: MODELS.embedding,
        kind: 'embedding',
        billing: 'token',
        max_input_tokens: 8_192,
        default_dimensions: 3,
        dimensions: false,
        prices: [{ input_per_million: CHAT_PRICES.input_per_million }],
      },
      {
        id: MODELS.image,
        kind: 'image',
        billing: 'per_image',
        sizes: ['512x512'],
        n: { max: 10 },
        prices: [{ price: String(PRICE_MICROCREDITS.image / 1_000_000) }],
      },
    ],
  }
  writeFileSync(file, JSON.stringify(gatewayConfigSchema.parse(config)))
}

/** Credits that a tenant is granted: its own number of thousands, so that a balance tells whose it is. */
export function grantedCredits(tenant: number): number {
  return (tenant + 1) * 1_000
}

/** Requests a minute of a tenant's key: its own number. */
export function ratePerMinute(tenant: number): number {
  return 50_000 + tenant
}

/** A tenant of the traffic, with one key. */
export type TrafficTenant = { readonly id: string; readonly key: string; readonly keyId: string }

type TenantsToMake = {
  readonly count: number
  /** False for keys without a limit. Default: each key has its own. */
  readonly isRateLimited?: boolean
  /** What each is granted. Default: by its number. */
  readonly credits?: string
}

/** Makes tenants; the number of a tenant is its place in the list. */
export async function makeTrafficTenants(
  table: Table,
  { count, isRateLimited = true, credits }: TenantsToMake,
): Promise<readonly TrafficTenant[]> {
  const actor = { name: 'test', role: 'operator' } as const
  return await Promise.all(
    Array.from({ length: count }, async (_, tenant) => {
      const id = crypto.randomUUID()
      const key = generateApiKey()
      const granted = parseCredits(credits ?? String(grantedCredits(tenant)))
      await makeTenant(table, { id, name: `Traffic ${tenant}`, credits: granted }, actor)
      const limit = isRateLimited ? { ratePerMinute: ratePerMinute(tenant) } : {}
      const keyId = await storeApiKey(table, { key, tenantId: id, models: null, ...limit }, actor)
      return { id, key, keyId }
    }),
  )
}

/** When a client leaves: after half of its body, so long after its request, or with the first bytes of the response. */
export type Leaving = 'in the body' | { readonly afterMilliseconds: number } | 'at the first bytes'

/** A request to send. */
export type MarkedRequest = {
  readonly mark: Mark
  readonly kind: KindName
  readonly key: string
  /** Undefined for a client that waits for its whole response. */
  readonly leaving: Leaving | undefined
}

/** How a request ended. */
export type Outcome = MarkedRequest & {
  /** Undefined without the head of a response. */
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  /** What arrived of the body. */
  readonly body: string
  /** `whole`, or why there is no whole response. */
  readonly end: 'whole' | 'left' | 'broken'
  /** How a connection broke, such as `ECONNRESET`. */
  readonly connectionError?: string | undefined
  /** From the request to the end. */
  readonly milliseconds: number
}

/** Sends one request to the gateway, and resolves when it ended in any way. Never rejects. */
export function sendMarked(origin: string, agent: Agent, sent: MarkedRequest): Promise<Outcome> {
  const { mark, key, leaving } = sent
  const { path, body } = kindOf(sent.kind)
  const began = performance.now()
  return new Promise((resolve) => {
    const json = body === undefined ? '' : JSON.stringify(body(mark))
    let received: IncomingMessage | undefined
    const chunks: Buffer[] = []
    let hasLeft = false
    const finish = (end: Outcome['end'], connectionError?: string) => {
      const { statusCode: status, headers = {} } = received ?? {}
      const bytes = Buffer.concat(chunks).toString('utf8')
      resolve({ ...sent, status, headers, body: bytes, end, connectionError, milliseconds: performance.now() - began })
    }
    const lose = ({ code }: NodeJS.ErrnoException) => (hasLeft ? finish('left') : finish('broken', code))
    const request = openRequest(new URL(path(mark), origin), {
      agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        ...(json === '' ? {} : { 'content-length': Buffer.byteLength(json) }),
      },
    })
    const leave = () => {
      hasLeft = true
      request.destroy()
      finish('left')
    }
    request.on('error', lose)
    request.on('response', (response) => {
      received = response
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        if (leaving === 'at the first bytes') {
          leave()
        }
      })
      response.on('error', lose)
      response.on('end', () => finish('whole'))
    })
    if (leaving === 'in the body') {
      request.write(json.slice(0, json.length / 2))
      setTimeout(leave, 5)
      return
    }
    request.end(json)
    if (typeof leaving === 'object') {
      setTimeout(leave, leaving.afterMilliseconds)
    }
  })
}

type Mixed = {
  readonly origin: string
  readonly tenants: readonly TrafficTenant[]
  readonly requests: number
  /** Requests at the same time. */
  readonly connections: number
  /** Share of the clients that leave. */
  readonly leavingShare: number
  /** From 0 up to 1. */
  readonly random: () => number
}

/** Longest time after which a client leaves that does not wait for the first bytes. */
const PATIENCE_MILLISECONDS_MAX = 12

/** Sends mixed requests of all tenants in random order, some of whose clients leave. */
export async function runMixed({
  origin,
  tenants,
  requests,
  connections,
  leavingShare,
  random,
}: Mixed): Promise<Outcome[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const outcomes: Outcome[] = []
  let next = 0
  const client = async () => {
    while (next < requests) {
      const mark: Mark = { tenant: Math.floor(random() * tenants.length), request: next }
      next += 1
      const leaving = random() < leavingShare ? someLeaving(random) : undefined
      const key = tenants[mark.tenant]?.key ?? ''
      outcomes.push(await sendMarked(origin, agent, { mark, kind: kindNameOf(mark), key, leaving }))
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  agent.destroy()
  return outcomes
}

function someLeaving(random: () => number): Leaving {
  const choice = random()
  if (choice < 0.2) {
    return 'in the body'
  }
  return choice < 0.6 ? 'at the first bytes' : { afterMilliseconds: random() * PATIENCE_MILLISECONDS_MAX }
}
