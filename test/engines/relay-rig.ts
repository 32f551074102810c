import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import '#local/awslambda.ts'
import { gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { formatCredits, parseCredits } from '#core/money.ts'
import { type LedgerRow, readLedgerRows } from '#lambdas/admin/read-ledger.ts'
import type { Operation } from '#routes/index.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { testLogVariables } from '../logs/test-logging.ts'
import { apiEvent } from '../middleware/api-exchange.ts'
import { CostMeter, startMeteredTable, type TableWatch } from './cost-meter.ts'
import { routeOf } from './load-route.ts'
import { runStreamHandler, type StreamClient, type StreamRun } from './stream-handler.ts'
import { startTestTable, type TableWithClient } from './test-table.ts'
import { TESTER } from './video-jobs.ts'

/** One request as the upstream got it. */
type UpstreamCallSeen = {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Record<string, unknown>
  readonly text: string
}

type Answer = (response: ServerResponse, call: UpstreamCallSeen) => void | Promise<void>

/** An upstream that does what the test says, byte by byte. */
export type RelayUpstream = {
  /** Ends in `/v1`. */
  readonly baseUrl: string
  readonly calls: readonly UpstreamCallSeen[]
  /** What the next requests get; a chat of two words by default. */
  answerWith(answer: Answer): void
  close(): Promise<void>
}

export const USAGE = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }

export async function startRelayUpstream(): Promise<RelayUpstream> {
  const calls: UpstreamCallSeen[] = []
  let answer: Answer = (response) => sendJson(response, chatAnswer())
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) {
      chunks.push(chunk)
    }
    const text = Buffer.concat(chunks).toString('utf8')
    const call = { path: request.url ?? '', headers: request.headers, body: JSON.parse(text), text }
    calls.push(call)
    await answer(response, call)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    calls,
    answerWith: (next) => {
      answer = next
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

export function chatAnswer(members: object = {}) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_776_678_917,
    model: 'upstream-chat',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi there' }, finish_reason: 'stop' }],
    usage: USAGE,
    ...members,
  }
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_upstream' }).end(text)
}

/** The bytes of one event of a chat stream. */
export function chatEvent(members: object): string {
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'upstream-chat', ...members })}\n\n`
}

export const word = (content: string) => chatEvent({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
export const FINISH = chatEvent({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
export const USAGE_CHUNK = chatEvent({ choices: [], usage: USAGE })
export const DONE = 'data: [DONE]\n\n'

export function openStream(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_upstream' })
}

/** A whole stream. */
export function sendStream(response: ServerResponse, ...events: readonly string[]): void {
  openStream(response).end(events.join(''))
}

export const CHAT = 'chat-a'
export const FREE = 'chat-free'
/** In the catalogue, and on no channel. */
export const UNSERVED = { chat: 'chat-unserved', embedding: 'embedding-unserved', image: 'image-unserved' } as const

/** Those whose handler a test calls; all but `list-models` and `get-model` relay. */
export type RelayOperation = Operation

type Call = {
  readonly operation?: RelayOperation
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly client?: StreamClient
  readonly requestId?: string
  /** What the function has left when it is invoked. */
  readonly remainingMilliseconds?: number
  readonly pathParameters?: Record<string, string>
  readonly query?: Record<string, string>
}

/** The deployed relay handlers over the local table engine and upstreams that a test scripts. */
export type RelayRig = {
  readonly table: TableWithClient
  /** One for each channel, in order of priority. */
  readonly upstreams: readonly RelayUpstream[]
  /** A tenant of its own, with one key. */
  tenant(credits?: string): Promise<{ readonly id: string; readonly key: string }>
  /** Sends a body (an object, or its text) through the streaming handler. */
  send(body: unknown, call?: Call): Promise<StreamRun>
  /** The same through the buffered handler. */
  sendBuffered(body: unknown, call?: Call): Promise<{ statusCode: number; headers: object; body: string }>
  balance(tenant: string): Promise<{ available: string; held: string; spent: string }>
  /** Rows of requests, newest first. */
  rows(tenant: string): Promise<readonly LedgerRow[]>
  close(): Promise<void>
}

type ChannelMembers = Readonly<Record<string, unknown>>

type RigOptions = {
  /** Members of every channel, or of the one with this index. */
  readonly channel?: ChannelMembers | ((index: number) => ChannelMembers)
  readonly channels?: number
  /** Members of every chat model. */
  readonly chat?: Readonly<Record<string, unknown>>
  /** The price row of {@link CHAT}. */
  readonly prices?: Readonly<Record<string, string>>
  /** Hears of every request of the handlers to the table. */
  readonly watch?: TableWatch
}

/** One per test file, because handlers keep what they opened. Sets the environment that a deployment would. */
export async function startRelayRig(options: RigOptions = {}): Promise<RelayRig> {
  const { channel = {}, channels = 1, chat = {}, watch, prices } = options
  const engine = await startTestTable()
  const watched = watch && (await startMeteredTable(engine.endpoint, new CostMeter(), { watch }))
  const upstreams = await Promise.all(Array.from({ length: channels }, startRelayUpstream))
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-relay-'))
  const configFile = join(directory, 'gateway.json')
  writeFileSync(
    configFile,
    JSON.stringify(relayConfig(upstreams, { channel, chat, ...(prices === undefined ? {} : { prices }) })),
  )
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: watched?.origin ?? engine.endpoint,
    TABLE_NAME: engine.table.name,
    GATEWAY_CONFIG_FILE: configFile,
    ...testLogVariables(),
  })
  const { table } = engine
  let defaultKey: string | undefined
  const tenant = async (credits = '1') => {
    const id = crypto.randomUUID()
    const key = generateApiKey()
    await makeTenant(table, { id, name: 'Relay', credits: parseCredits(credits) }, TESTER)
    await storeApiKey(table, { key, tenantId: id, models: null }, TESTER)
    return { id, key }
  }
  const eventOf = async (
    body: unknown,
    { operation = 'create-chat-completion', key, headers = {}, pathParameters, query }: Call,
  ) => {
    defaultKey ??= (await tenant('1000')).key
    const { method, path } = routeOf(operation)
    const event = apiEvent({
      httpMethod: method,
      path,
      headers: 'x-api-key' in headers ? headers : { authorization: `Bearer ${key ?? defaultKey}`, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      pathParameters: pathParameters ?? null,
      queryStringParameters: query ?? null,
    })
    return event
  }
  return {
    table,
    upstreams,
    tenant,
    send: async (body, call = {}) => {
      const { streamHandler } = await loadHandler(call)
      const context = {
        awsRequestId: call.requestId ?? crypto.randomUUID(),
        getRemainingTimeInMillis: () => call.remainingMilliseconds ?? 900_000,
      }
      return await runStreamHandler({
        streamHandler,
        event: await eventOf(body, call),
        context,
        client: call.client ?? {},
      })
    },
    sendBuffered: async (body, call = {}) => {
      const { handler } = await loadHandler(call)
      return await handler(await eventOf(body, call), { awsRequestId: call.requestId ?? crypto.randomUUID() })
    },
    balance: async (id) => {
      const { available, held, spent } = (await getTenant(table, id)).balance
      return { available: formatCredits(available), held: formatCredits(held), spent: formatCredits(spent) }
    },
    rows: async (id) => (await readLedgerRows(table, id)).filter(({ kind }) => kind !== 'grant'),
    close: async () => {
      await watched?.stop()
      await Promise.all([engine.close(), ...upstreams.map((upstream) => upstream.close())])
      rmSync(directory, { recursive: true })
    },
  }
}

function loadHandler({ operation = 'create-chat-completion' }: Call) {
  return import(`#lambdas/api/${routeOf(operation).function}/handler.ts`)
}

/** The models of these tests, on a channel for each upstream. */
export function relayConfig(
  upstreams: readonly RelayUpstream[],
  {
    channel = {},
    chat: added = {},
    prices = { input_per_million: '1000', output_per_million: '2000' },
  }: Pick<RigOptions, 'channel' | 'chat' | 'prices'> = {},
) {
  const models = {
    [CHAT]: 'upstream-chat',
    [FREE]: 'upstream-free',
    'text-embedding-3-small': 'upstream-embedding',
    'text-embedding-ada-002': 'upstream-ada',
    'image-v3': 'upstream-image',
    'image-v2': 'upstream-image-2',
  }
  const chat = { kind: 'chat', billing: 'token', context_tokens: 8192, max_output_tokens: 1000, ...added }
  const embedding = { kind: 'embedding', billing: 'token', max_input_tokens: 8192, default_dimensions: 1536 }
  return gatewayConfigSchema.parse({
    channels: upstreams.map(({ baseUrl }, index) => ({
      id: `channel-${index}`,
      provider: 'openai',
      base_url: baseUrl,
      models,
      priority: index,
      // The failures of one test open no breaker for the next.
      breaker: { failures: 1000 },
      ...(typeof channel === 'function' ? channel(index) : channel),
    })),
    models: [
      { ...chat, id: CHAT, prices: [prices] },
      { ...chat, id: UNSERVED.chat, prices: [{ input_per_million: '1', output_per_million: '1' }] },
      { ...embedding, id: UNSERVED.embedding, dimensions: true, prices: [{ input_per_million: '1' }] },
      {
        id: UNSERVED.image,
        kind: 'image',
        billing: 'per_image',
        sizes: ['1024x1024'],
        n: { max: 1 },
        prices: [{ price: '0.01' }],
      },
      { ...chat, id: FREE, prices: [{ input_per_million: '0', output_per_million: '0' }] },
      { ...embedding, id: 'text-embedding-3-small', dimensions: true, prices: [{ input_per_million: '1000' }] },
      { ...embedding, id: 'text-embedding-ada-002', dimensions: false, prices: [{ input_per_million: '1000' }] },
      {
        id: 'image-v3',
        kind: 'image',
        billing: 'per_image',
        sizes: ['1024x1024', '1792x1024', '1024x1792'],
        n: { max: 1 },
        qualities: ['standard', 'hd'],
        styles: ['vivid', 'natural'],
        max_prompt_characters: 4000,
        prices: [
          { quality: 'standard', price: '0.04' },
          { quality: 'hd', price: '0.08' },
        ],
      },
      {
        id: 'image-v2',
        kind: 'image',
        billing: 'per_image',
        sizes: ['256x256', '512x512', '1024x1024'],
        n: { max: 10 },
        prices: [{ price: '0.02' }],
      },
    ],
  })
}

/** The field that the gateway adds to a usage. */
const COST = /,?"cost":\d+(?:\.\d+)?(?=\s*\})/g

/** A response without the cost in its usage: the upstream's own bytes are left. */
export function withoutCost(text: string): string {
  return text.replaceAll(COST, '')
}
