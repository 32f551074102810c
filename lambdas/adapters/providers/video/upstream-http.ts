import * as http from 'node:http'
import * as https from 'node:https'
import {
  type Agents,
  exchange,
  type UpstreamAnswer,
  type UpstreamLimits,
  type UpstreamRequest,
} from '../../http/upstream-exchange.ts'

/** Sends requests to upstreams. `send` never rejects. */
export interface UpstreamHttp {
  send(request: UpstreamRequest): Promise<UpstreamAnswer>
  /** Closes idle connections. */
  close(): void
}

const CONNECT_MILLISECONDS_MAX = 5_000

/** A submit must end well before its function does (40 s), or a lost answer would look like a crash. */
export const SUBMIT_LIMITS: UpstreamLimits = {
  timeouts: { connectMilliseconds: CONNECT_MILLISECONDS_MAX, totalMilliseconds: 25_000 },
  answerBytesMax: 1_048_576,
  connection: 'fresh',
}

/** Answers of finished tasks repeat the prompt and whole nested answers, hence more room than a submit. */
export const POLL_LIMITS: UpstreamLimits = {
  timeouts: { connectMilliseconds: CONNECT_MILLISECONDS_MAX, totalMilliseconds: 15_000 },
  answerBytesMax: 2_097_152,
  connection: 'kept',
}

/** A cancel changes something upstream: like a submit it is sent once, over its own connection. */
export const CANCEL_LIMITS: UpstreamLimits = { ...POLL_LIMITS, connection: 'fresh' }

/** Idle connections kept per upstream host: more than one instance polls at a time. */
const IDLE_CONNECTIONS_MAX = 16

/**
 * An `UpstreamHttp` over `node:http` and `node:https`. Agents of our own: those of the process may obey proxy variables
 * of the environment.
 */
export function createUpstreamHttp(): UpstreamHttp {
  const kept = createAgents({ keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS_MAX })
  const fresh = createAgents({ keepAlive: false })
  return {
    async send(request) {
      const url = URL.canParse(request.url) ? new URL(request.url) : undefined
      if (url === undefined || !/^https?:$/.test(url.protocol)) {
        return { kind: 'not_sent', reason: 'ERR_INVALID_URL' }
      }
      const startedAt = performance.now()
      const first = await exchange({ request, url, agents: request.connection === 'kept' ? kept : fresh })
      if (!first.isStaleConnection || request.connection === 'fresh') {
        return first.answer
      }
      const remaining = Math.max(1, request.timeouts.totalMilliseconds - (performance.now() - startedAt))
      const timeouts = { ...request.timeouts, totalMilliseconds: remaining }
      return (await exchange({ request: { ...request, timeouts, connection: 'fresh' }, url, agents: fresh })).answer
    },
    close() {
      for (const agent of [kept.http, kept.https, fresh.http, fresh.https]) {
        agent.destroy()
      }
    },
  }
}

function createAgents(options: http.AgentOptions): Agents {
  return { http: new http.Agent(options), https: new https.Agent(options) }
}
