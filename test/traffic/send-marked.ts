import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as openRequest } from 'node:http'
import { type KindName, kindNameOf, kindOf, type Mark } from './marked-request.ts'
import type { TrafficTenant } from './traffic-stage.ts'

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
