import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import type { OutgoingPost, UpstreamTarget } from './outgoing-post.ts'
import { attemptPost, type PostOutcome } from './upstream-attempt.ts'

/** One JSON post to an upstream. */
export type UpstreamPost = Pick<OutgoingPost, 'timeouts' | 'deadline' | 'signal' | 'givenUp'> & {
  /** Base url of the channel with the path of the operation. */
  readonly url: string
  /** The key of the channel; an empty one is not sent. */
  readonly credential: string
  /** Our own id of the request, which an upstream can find in its logs. */
  readonly requestId: string
  /** JSON text. */
  readonly body: string
}

/** The connections of this process to all upstreams. */
export interface UpstreamConnections {
  /**
   * Posts once and resolves with the head of the answer; never rejects. Only a connection of the pool that turns out at
   * once to have been closed by the upstream while it was idle is replaced by a new one, once, which has what is left of
   * the time for the head. Redirects are answers like any other. Whoever gets a body reads it to its end or destroys it.
   */
  post(post: UpstreamPost): Promise<PostOutcome>
  /** Closes every connection. */
  close(): void
}

/**
 * Agents of our own, one for each origin, which obey no proxy variables of the environment. Nothing limits the open
 * connections but the requests themselves; so many of them stay when idle. The newest is used first, so that the others
 * can grow old and close.
 */
const POOL = { keepAlive: true, scheduling: 'lifo', maxFreeSockets: 512 } as const

/** Said explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot switch it off. */
const TLS = { rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] }

/** Makes connections with a pool for each origin; a process needs one of these. */
export function createUpstreamConnections(): UpstreamConnections {
  const agents = new Map<string, Agent>()
  const targets = new Map<string, UpstreamTarget>()

  const targetOf = (url: string): UpstreamTarget | undefined => {
    const known = targets.get(url)
    if (known !== undefined) {
      return known
    }
    const parsed = URL.parse(url)
    if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
      return undefined
    }
    const agent = agents.get(parsed.origin) ?? createAgent(parsed)
    agents.set(parsed.origin, agent)
    const target = targetAt(parsed, agent)
    targets.set(url, target)
    return target
  }

  return {
    async post(post) {
      const target = targetOf(post.url)
      if (target === undefined) {
        return { kind: 'not_sent', reason: 'ERR_INVALID_URL' }
      }
      const outgoing = { ...post, headers: headersOf(post) }
      const startedAt = performance.now()
      const first = await attemptPost(target, outgoing)
      if (!first.isStale) {
        return first.outcome
      }
      // An upstream that closed one idle connection has most likely closed them all, and the next try must be a new one.
      closeIdle(target.agent)
      const deadline = Math.min(
        post.deadline ?? Number.POSITIVE_INFINITY,
        startedAt + post.timeouts.firstByteMilliseconds,
      )
      return (await attemptPost(target, { ...outgoing, deadline })).outcome
    },
    close() {
      for (const agent of agents.values()) {
        agent.destroy()
      }
    },
  }
}

function createAgent({ protocol }: URL): Agent {
  return protocol === 'https:' ? new TlsAgent({ ...POOL, ...TLS }) : new Agent(POOL)
}

function closeIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) {
      socket.destroy()
    }
  }
}

function targetAt(url: URL, agent: Agent): UpstreamTarget {
  return {
    isTls: url.protocol === 'https:',
    // `[::1]` is `::1` to everything but a url.
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port,
    path: `${url.pathname}${url.search}`,
    agent,
  }
}

function headersOf({ credential, requestId, body }: UpstreamPost): Record<string, string> {
  const headers: Record<string, string> = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'reelgate',
    'x-client-request-id': requestId,
  }
  if (credential !== '') {
    headers.authorization = `Bearer ${credential}`
  }
  return headers
}
