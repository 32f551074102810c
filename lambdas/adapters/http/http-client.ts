import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { bareHostname } from '#core/http.ts'
import { RecentValues } from '../recent-values.ts'
import type { HttpRequest, HttpTarget } from './http-request.ts'
import { type SendOutcome, sendOnce } from './send-once.ts'

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
