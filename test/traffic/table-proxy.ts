import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'

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
  const server = createServer((request, response) => {
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
