import type { Socket } from 'node:net'
import { afterEach, beforeEach } from '@jest/globals'
import type { HttpResponse, SendOutcome } from '#platform/http/send-once.ts'
import { createUpstreamConnections, type UpstreamConnections, type UpstreamPost } from '#upstream/providers/openai.ts'
import { type Loopback, listenTcp } from '../platform/http/loopback.ts'
import { type RawRequest, type RawUpstream, startRawUpstream } from './raw-upstream.ts'

export const POST_BODY = '{"prompt":"secret words 😀"}'

/** Timeouts that a test waits for. */
export const HASTY = { connectMilliseconds: 1_000, firstByteMilliseconds: 50, idleMilliseconds: 50 }

/** Only the idle timeout is short: connection and head of a reply have time. */
export const IDLE_HASTY = { ...HASTY, connectMilliseconds: 10_000, firstByteMilliseconds: 10_000 }

type Posting = {
  /** An upstream that ends with its test. */
  start(answer: (request: RawRequest) => void): Promise<RawUpstream>
  listen(onConnection: (socket: Socket) => void): Promise<Loopback>
  post(to: { readonly origin: string }, members?: Partial<UpstreamPost>): Promise<SendOutcome>
}

/** Connections to upstreams of their own for each test of a file. */
export function usePosting(): Posting {
  let connections: UpstreamConnections
  let stops: (() => Promise<void>)[]
  beforeEach(() => {
    connections = createUpstreamConnections()
    stops = []
  })
  afterEach(async () => {
    connections.close()
    await Promise.all(stops.map((stop) => stop()))
  })
  return {
    start: async (answer) => {
      const upstream = await startRawUpstream(answer)
      stops.push(upstream.stop)
      return upstream
    },
    listen: async (onConnection) => {
      const server = await listenTcp(onConnection)
      stops.push(server.stop)
      return server
    },
    post: ({ origin }, members) =>
      connections.post({
        url: `${origin}/v1/chat/completions`,
        credential: 'secret-key',
        requestId: 'request-1',
        body: POST_BODY,
        timeouts: { connectMilliseconds: 20_000, firstByteMilliseconds: 20_000, idleMilliseconds: 20_000 },
        signal: undefined,
        ...members,
      }),
  }
}

/** @throws Error when there is none. */
export async function answerOf(outcome: Promise<SendOutcome>): Promise<HttpResponse> {
  const settled = await outcome
  if (settled.kind !== 'response') {
    throw new Error(`no answer but ${JSON.stringify(settled)}`)
  }
  return settled
}

export async function chunksOf(body: AsyncIterable<Buffer>): Promise<string[]> {
  const chunks: string[] = []
  for await (const chunk of body) {
    chunks.push(chunk.toString())
  }
  return chunks
}

export async function textOf(outcome: Promise<SendOutcome>): Promise<string> {
  return (await chunksOf((await answerOf(outcome)).body)).join('')
}
