import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

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
  const server = createServer(async (request, response) => {
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
