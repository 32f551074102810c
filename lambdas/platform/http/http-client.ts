import { Agent, type IncomingHttpHeaders } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { bareHostname } from '#core/http.ts'
import { RecentValues } from '../cache.ts'
import { ResponseBrokenError } from './response-body.ts'
import { type HttpRequest, type HttpResponse, type HttpTarget, type SendOutcome, sendOnce } from './send-once.ts'

/** A request with its URL and its kind of connection. */
export type AddressedRequest = HttpRequest & {
  readonly url: string
  /** `own` opens a connection for this request alone, which is never replaced; `pooled`, the default, is kept alive. */
  readonly connection?: 'pooled' | 'own'
}

/** The connections of one purpose to any number of servers. */
export interface HttpClient {
  /**
   * Sends a request once and resolves with the head of the response; never rejects. There is one exception to "once": a
   * pooled connection that the server had closed while it was idle is replaced by a new one, one time, within the limits
   * of the first. Redirects are responses like any other. The caller reads the body to its end or destroys it.
   */
  send(request: AddressedRequest): Promise<SendOutcome>
  /** Closes every connection. */
  close(): void
}

/** Bytes of a response that wait in a connection while nobody reads them. Node's default is four times as much. */
const CONNECTION_BYTES = 16 * 1024

/**
 * The number of open connections is limited by the requests alone; this many per server stay open when idle. The most
 * recently used connection is taken first, so that the others can age and close.
 */
const POOL = { keepAlive: true, scheduling: 'lifo', maxFreeSockets: 512, highWaterMark: CONNECTION_BYTES } as const
const OWN = { keepAlive: false, highWaterMark: CONNECTION_BYTES } as const

/** Node names the connections of an agent by all options of a request. Each agent here has one server, so one name does. */
const SERVER_NAME = 'server'

class PlainAgent extends Agent {
  override getName(): string {
    return SERVER_NAME
  }
}

class SecureAgent extends TlsAgent {
  override getName(): string {
    return SERVER_NAME
  }
}

/** Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable the verification. */
const TLS = { rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] }

/** The relay uses a handful of URLs; a poll's URL holds the id of its task and is used a few times. */
const TARGETS_MAX = 256

/** The two ways to one URL. */
type Targets = Readonly<Record<'pooled' | 'own', HttpTarget & { readonly agent: Agent }>>
type Agents = { readonly pooled: Agent; readonly own: Agent }

/**
 * Creates a client with a pool for each origin. The agents are not shared with the process, whose global ones may obey the
 * environment's proxy variables.
 */
export function createHttpClient(): HttpClient {
  const agents = new Map<string, Agents>()
  const recentTargets = new RecentValues<Targets>(TARGETS_MAX)

  const targetsOf = (url: string): Targets | undefined => {
    const known = recentTargets.get(url)
    if (known !== undefined) {
      return known
    }
    const parsed = URL.parse(url)
    if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
      return undefined
    }
    const { pooled, own } = agents.get(parsed.origin) ?? createAgents(parsed)
    agents.set(parsed.origin, { pooled, own })
    const targets = { pooled: targetAt(parsed, pooled), own: targetAt(parsed, own) }
    recentTargets.set(url, targets)
    return targets
  }

  return {
    async send(request) {
      const target = targetsOf(request.url)?.[request.connection ?? 'pooled']
      if (target === undefined) {
        return { kind: 'not_sent', reason: 'ERR_INVALID_URL' }
      }
      const startedAt = performance.now()
      const first = await sendOnce(target, request)
      if (!first.isStale) {
        return first.outcome
      }
      // A server that closed one idle connection has most likely closed all of them, and the second try needs a new one.
      closeIdle(target.agent)
      const headDeadline = startedAt + request.timeouts.firstByteMilliseconds
      const deadline = Math.min(request.deadline ?? Number.POSITIVE_INFINITY, headDeadline)
      return (await sendOnce(target, { ...request, deadline })).outcome
    },
    close() {
      for (const { pooled, own } of agents.values()) {
        pooled.destroy()
        own.destroy()
      }
    },
  }
}

function createAgents({ protocol }: URL): Agents {
  return protocol === 'https:'
    ? { pooled: new SecureAgent({ ...POOL, ...TLS }), own: new SecureAgent({ ...OWN, ...TLS }) }
    : { pooled: new PlainAgent(POOL), own: new PlainAgent(OWN) }
}

function closeIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) {
      socket.destroy()
    }
  }
}

function targetAt(url: URL, agent: Agent): HttpTarget & { readonly agent: Agent } {
  return {
    isTls: url.protocol === 'https:',
    host: url.host,
    agent,
    options: {
      hostname: bareHostname(url),
      port: url.port,
      path: `${url.pathname}${url.search}`,
      agent,
    },
  }
}

/** The limits of an exchange whose response is read whole, and the kind of connection it uses. */
export type WholeLimits = {
  /** Name lookup, TCP and TLS together. */
  readonly connectMilliseconds: number
  /** Until the last byte of the response, a replaced connection included. */
  readonly totalMilliseconds: number
  /** The largest body that is read. */
  readonly bytesMax: number
  /**
   * `own` opens a connection for this request alone, so that a failure tells whether a byte was sent. `pooled` may find that
   * the server has closed the connection, and then sends the request again: only for requests that are safe to repeat.
   */
  readonly connection: 'own' | 'pooled'
}

/** One request whose response is read whole. */
export type WholeRequest = Pick<AddressedRequest, 'method' | 'url' | 'headers' | 'body'> & {
  readonly limits: WholeLimits
}

/** `text` is the whole body decoded as UTF-8, including a byte order mark. */
export type WholeResponse = {
  readonly kind: 'response'
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** The outcome of an exchange. `reason` is an error code or a fixed phrase, and never holds a URL, a key or a body. */
export type WholeOutcome =
  | WholeResponse
  /** No byte of the request was sent: name lookup, refused connection, TLS, connect timeout. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  /** At least a part of the request was sent, and no whole response came back. The reason is `timeout` when time ran out. */
  | { readonly kind: 'no_response'; readonly reason: string }

/** Sends a request and reads the whole response. Never rejects. */
export async function exchangeWhole(
  client: HttpClient,
  { method, url, headers, body, limits }: WholeRequest,
): Promise<WholeOutcome> {
  const { connectMilliseconds, totalMilliseconds, bytesMax, connection } = limits
  const deadline = performance.now() + totalMilliseconds
  const outcome = await client.send({
    method,
    url,
    headers,
    body,
    timeouts: { connectMilliseconds, firstByteMilliseconds: totalMilliseconds },
    deadline,
    connection,
    isRepeatable: connection === 'pooled',
  })
  switch (outcome.kind) {
    case 'response':
      return await readWhole(outcome, bytesMax, deadline)
    case 'first_byte_timeout':
      return { kind: 'no_response', reason: 'timeout' }
    case 'aborted':
    case 'given_up':
      // Only a signal causes these, and the request has none.
      return { kind: 'no_response', reason: 'given up' }
    default:
      return outcome
  }
}

async function readWhole(
  { status, headers, body }: HttpResponse,
  bytesMax: number,
  deadline: number,
): Promise<WholeOutcome> {
  // A small body arrives with its head, and needs no timer.
  const timer = body.isOver
    ? undefined
    : setTimeout(() => body.fail('timeout'), Math.max(1, deadline - performance.now()))
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    // Cheaper than `for await`, twice in each relayed request.
    for (let next = await body.next(); next.done !== true; next = await body.next()) {
      bytes += next.value.length
      if (bytes > bytesMax) {
        body.destroy()
        return { kind: 'no_response', reason: 'reply too large' }
      }
      chunks.push(next.value)
    }
    return { kind: 'response', status, headers, text: Buffer.concat(chunks, bytes).toString('utf8') }
  } catch (error) {
    if (error instanceof ResponseBrokenError) {
      return { kind: 'no_response', reason: error.reason }
    }
    throw error
  } finally {
    clearTimeout(timer)
  }
}
