import type { IncomingMessage, ServerResponse } from 'node:http'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { readVideoResult } from '#lambdas/pipeline/step-context.ts'
import type { UpstreamHttp } from '#upstream/providers/upstream-http.ts'
import { openVideoAccount } from '#upstream/providers/video-account.ts'
import { inTurn, type Pipeline } from '../engines/pipeline.ts'
import type { Engines } from '../engines/start-engines.ts'
import { PER_SECOND_MODEL } from '../engines/test-catalogue.ts'
import { type Loopback, listenHttp } from '../platform/http/loopback.ts'
import { p1Channel, p2Channel } from '../upstream/providers/provider-samples.ts'

type Answer = (response: ServerResponse) => unknown

/** One answer: what `response` is told, or a body with status 200. */
export type Reply = string | Answer

type Script = { readonly submits: readonly Reply[]; readonly polls: readonly Reply[] }

/** An upstream over HTTP that answers as the present test says; the last answer of a kind is repeated. */
export type WireUpstream = Loopback & {
  play(script: Partial<Script>): void
  /** Submits and polls that arrived whole since `play`. */
  readonly seen: { submits: number; polls: number; cancels: number }
}

export function jsonReply(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return (response) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

/** What ends a job that asks more than its test has planned, so that the test fails at once. */
const UNPLANNED_SUBMIT = jsonReply(400, '{"error":{"message":"an unplanned submit"}}')
const UNPLANNED_POLL = '{"status":"failed","output":{"task_status":"FAILED"}}'

export async function startWireUpstream(): Promise<WireUpstream> {
  let submit = inTurn<Reply>(UNPLANNED_SUBMIT)
  let poll = inTurn<Reply>(UNPLANNED_POLL)
  const seen = { submits: 0, polls: 0, cancels: 0 }
  const replyTo = (request: IncomingMessage): Reply => {
    if (request.method === 'GET') {
      seen.polls += 1
      return poll()
    }
    if (request.method === 'DELETE' || request.url?.endsWith('/cancel')) {
      seen.cancels += 1
      return jsonReply(409, '{}')
    }
    seen.submits += 1
    return submit()
  }
  const server = await listenHttp(async (request, response) => {
    await request.toArray()
    const reply = replyTo(request)
    const answer = typeof reply === 'string' ? jsonReply(200, reply) : reply
    answer(response)
  })
  return {
    ...server,
    seen,
    play: ({ submits = [UNPLANNED_SUBMIT], polls = [UNPLANNED_POLL] }) => {
      Object.assign(seen, { submits: 0, polls: 0, cancels: 0 })
      submit = inTurn(...submits)
      poll = inTurn(...polls)
    },
  }
}

type Wire = {
  readonly upstream: Loopback
  readonly http: UpstreamHttp
  readonly provider?: 'p1' | 'p2'
  /** The key that has replaced one that the upstream refuses. */
  readonly renewedCredential?: (refused: string) => Promise<string | undefined>
}

/** A pipeline with one channel, whose steps speak to that upstream through the adapters that are deployed. */
export async function openWirePipeline(
  engines: Engines,
  { upstream, http, provider = 'p2', renewedCredential }: Wire,
): Promise<Pipeline> {
  const sample = provider === 'p1' ? p1Channel(upstream.origin) : p2Channel(upstream.origin, 'direct')
  const channel: VideoChannel = { ...sample, id: 'main', models: { [PER_SECOND_MODEL]: 'upstream-b' } }
  const config = { channels: [channel], trusted_origins: [engines.results.origin] }
  const pipeline = await engines.pipeline({ config })
  const adapter = (of: VideoChannel) => openVideoAccount(of, { credential: async () => 'key', renewedCredential, http })
  const context = {
    ...pipeline.context,
    openAccount: async (of: VideoChannel) => adapter(of),
    readResult: readVideoResult,
  }
  return { ...pipeline, context }
}
