import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { formatMark, imageCount, inputTokens, type Mark, outputTokens, readMark } from './marked-traffic.ts'

/** What an upstream does wrong. */
export const UPSTREAM_FAULTS = ['status 500', 'status 429', 'reset', 'reset in the middle'] as const
export type UpstreamFault = (typeof UPSTREAM_FAULTS)[number]

type EchoOptions = {
  /** Before each reply, and between two events of a stream. Default: no time. */
  readonly pauseMilliseconds?: (mark: Mark) => number
  /** Events of a stream. */
  readonly events?: number
  /** Asked once for each request. */
  readonly fault?: () => UpstreamFault | undefined
  /** Padding of each event of a stream, in bytes. */
  readonly paddingBytes?: number
}

/** An upstream that repeats the mark of each request in its reply, and reports the usage of that mark. */
export type EchoUpstream = { readonly origin: string; close(): Promise<void> }

/** Starts it on a free port. */
export async function startEchoUpstream(options: EchoOptions = {}): Promise<EchoUpstream> {
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const string = Buffer.concat(chunks).toString('utf8')
      const asked = { path: request.url ?? '', isStream: string.includes('"stream":true'), mark: readMark(string) }
      // A caller that leaves in the middle is no fault of the upstream.
      reply(response, asked, options).catch(() => response.destroy())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return {
    origin: `http://127.0.0.1:${port}`,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

type Asked = { readonly path: string; readonly isStream: boolean; readonly mark: Mark }

async function reply(response: ServerResponse, { path, isStream, mark }: Asked, options: EchoOptions): Promise<void> {
  const { pauseMilliseconds = () => 0, fault } = options
  const failure = fault?.()
  await pause(pauseMilliseconds(mark))
  if (failure === 'reset') {
    response.socket?.resetAndDestroy()
  } else if (failure === 'status 500' || failure === 'status 429') {
    sendJson(response, { error: { message: formatMark(mark) } }, Number(failure.slice(-3)))
  } else if (isStream) {
    await sendStream(response, mark, { ...options, isCut: failure === 'reset in the middle' })
  } else {
    sendJson(response, wholeReply(path, mark))
  }
}

function wholeReply(path: string, mark: Mark): object {
  const string = formatMark(mark)
  if (path.endsWith('/embeddings')) {
    const data = [{ object: 'embedding', index: 0, embedding: [mark.tenant, mark.request, 0.5] }]
    const usage = { prompt_tokens: inputTokens(mark), total_tokens: inputTokens(mark) }
    return { object: 'list', data, model: 'upstream', usage, echo: string }
  }
  if (path.endsWith('/images/generations')) {
    const b64_json = Buffer.from(string).toString('base64')
    return {
      created: 1_700_000_000,
      data: Array.from({ length: imageCount(mark) }, () => ({ b64_json, revised_prompt: string })),
    }
  }
  const message = { role: 'assistant', content: `${string} said` }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  return { ...head(mark), object: 'chat.completion', choices, usage: usageOf(mark) }
}

function head(mark: Mark): object {
  return { id: `chatcmpl-${formatMark(mark)}`, created: 1_700_000_000, model: 'upstream' }
}

function usageOf(mark: Mark): object {
  const [input, output] = [inputTokens(mark), outputTokens(mark)]
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}

/** Events between two of which the caller may leave, or the upstream breaks off. */
const EVENTS = 6

type StreamOptions = EchoOptions & { readonly isCut: boolean }

async function sendStream(response: ServerResponse, mark: Mark, options: StreamOptions): Promise<void> {
  const { isCut, events = EVENTS, paddingBytes = 0, pauseMilliseconds = () => 0 } = options
  const padding = 'x'.repeat(paddingBytes)
  const event = (fields: object) =>
    `data: ${JSON.stringify({ ...head(mark), object: 'chat.completion.chunk', ...fields })}\n\n`
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let index = 0; index < events && !response.destroyed; index += 1) {
    const delta = { role: 'assistant', content: `${formatMark(mark)} ${padding}` }
    const isTaken = response.write(event({ choices: [{ index: 0, delta, finish_reason: null }] }))
    if (isCut && index > events / 2) {
      response.socket?.resetAndDestroy()
      return
    }
    if (!isTaken) {
      await Promise.race([once(response, 'drain'), once(response, 'close')])
    }
    await pause(pauseMilliseconds(mark))
  }
  const end = [
    event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    event({ choices: [], usage: usageOf(mark) }),
  ]
  response.end(`${end.join('')}data: [DONE]\n\n`)
}

async function pause(milliseconds: number): Promise<void> {
  await (milliseconds > 0 ? delay(milliseconds) : new Promise(setImmediate))
}

function sendJson(response: ServerResponse, body: object, status = 200): void {
  const bytes = Buffer.from(JSON.stringify(body))
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes)
}

const attribute = z.object({ S: z.string() })
const key = z.object({ PK: attribute, SK: attribute })
const write = z.union([
  z.object({ Put: z.object({ Item: key }) }).transform(({ Put }) => Put.Item),
  z.object({ Update: z.object({ Key: key }) }).transform(({ Update }) => Update.Key),
  z.object({ Delete: z.object({ Key: key }) }).transform(({ Delete }) => Delete.Key),
  z.object({ ConditionCheck: z.object({ Key: key }) }).transform(({ ConditionCheck }) => ConditionCheck.Key),
])
const transaction = z.object({ TransactItems: z.array(write) })

/** Items on which transactions are at work. */
export class TransactionKeys {
  readonly #taken = new Set<string>()

  /** Takes the items of a transaction, and returns a function that gives them back; undefined if another has one of them. */
  take(body: Buffer): (() => void) | undefined {
    const names = namesOf(body)
    if (names.some((name) => this.#taken.has(name))) {
      return undefined
    }
    for (const name of names) {
      this.#taken.add(name)
    }
    return () => {
      for (const name of names) {
        this.#taken.delete(name)
      }
    }
  }

  /** The error with which DynamoDB refuses a transaction whose items another one is at work on. */
  conflict(body: Buffer): object {
    const reasons = namesOf(body).map((name) =>
      this.#taken.size === 0 || this.#taken.has(name) ? { Code: 'TransactionConflict' } : { Code: 'None' },
    )
    return {
      __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
      message: 'Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict]',
      CancellationReasons: reasons.every(({ Code }) => Code === 'None')
        ? reasons.map(() => ({ Code: 'TransactionConflict' }))
        : reasons,
    }
  }
}

function namesOf(body: Buffer): readonly string[] {
  const { TransactItems } = transaction.parse(JSON.parse(body.toString('utf8')))
  return TransactItems.map(({ PK, SK }) => `${PK.S}\n${SK.S}`)
}

/** What goes wrong with one request to the table. */
export const TABLE_FAULTS = ['conflict', 'throttled', 'lost reply', 'reset'] as const
export type TableFault = (typeof TABLE_FAULTS)[number]

type ProxyOptions = {
  /** Before each transaction reaches the table. */
  readonly transactionMilliseconds?: number
  /** Refuses a transaction while another one is at work on one of its items, as DynamoDB does. */
  readonly refusesOverlaps?: boolean
  /** Asked once for each request. */
  readonly fault?: () => TableFault | undefined
}

/** What passed, and when the table last confirmed a transaction, as a time of `performance.now()`. */
export type TableCounts = { transactions: number; conflicts: number; faults: number; lastTransactionAt: number }

/** A running proxy. */
export type TableProxy = { readonly endpoint: string; readonly counts: TableCounts; close(): Promise<void> }

const TRANSACTION = /\.TransactWriteItems$/

/** Stands between gateways and the local table, and delays, refuses or loses what a real table would. */
export async function startTableProxy(tableEndpoint: string, options: ProxyOptions = {}): Promise<TableProxy> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const counts: TableCounts = { transactions: 0, conflicts: 0, faults: 0, lastTransactionAt: 0 }
  const keys = new TransactionKeys()
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    pass(request, response, { ...options, tableEndpoint, agent, counts, keys }).catch(() => response.destroy())
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return {
    endpoint: `http://127.0.0.1:${port}`,
    counts,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
      agent.destroy()
    },
  }
}

type Passage = ProxyOptions & {
  readonly tableEndpoint: string
  readonly agent: Agent
  readonly counts: TableCounts
  readonly keys: TransactionKeys
}

async function pass(request: IncomingMessage, response: ServerResponse, passage: Passage): Promise<void> {
  const { transactionMilliseconds = 0, refusesOverlaps = false, fault, counts, keys } = passage
  const body = await buffer(request)
  const isTransaction = TRANSACTION.test(String(request.headers['x-amz-target']))
  const failure = fault?.()
  counts.transactions += isTransaction ? 1 : 0
  counts.faults += failure === undefined ? 0 : 1
  if (failure === 'reset') {
    request.socket.destroy()
    return
  }
  if (failure === 'throttled' || (failure === 'conflict' && !isTransaction)) {
    refuse(response, { __type: 'com.amazonaws.dynamodb.v20120810#ThrottlingException', message: 'throttled' })
    return
  }
  if (failure === 'conflict') {
    refuse(response, keys.conflict(body))
    return
  }
  const release = isTransaction && refusesOverlaps ? keys.take(body) : () => undefined
  if (release === undefined) {
    counts.conflicts += 1
    refuse(response, keys.conflict(body))
    return
  }
  try {
    await (isTransaction && transactionMilliseconds > 0 ? delay(transactionMilliseconds) : undefined)
    const reply = await forward(request, body, passage)
    if (isTransaction) {
      counts.lastTransactionAt = performance.now()
    }
    if (failure === 'lost reply') {
      request.socket.destroy()
    } else {
      response.writeHead(reply.status, { 'content-type': 'application/x-amz-json-1.0' }).end(reply.body)
    }
  } finally {
    release()
  }
}

function refuse(response: ServerResponse, body: object): void {
  response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body))
}

async function forward(
  { method = 'POST', url = '/', headers }: IncomingMessage,
  body: Buffer,
  { tableEndpoint, agent }: Passage,
): Promise<{ readonly status: number; readonly body: Buffer }> {
  // The headers go on as they came, the host among them: they are what was signed.
  const { connection: _, ...signed } = headers
  const passedOn = openRequest(tableEndpoint + url, { method, headers: signed, setHost: false, agent })
  passedOn.end(body)
  const [reply] = (await once(passedOn, 'response')) as [IncomingMessage]
  return { status: reply.statusCode ?? 500, body: await buffer(reply) }
}
