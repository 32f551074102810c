import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import { CLIP } from '../../engines/test-servers.ts'

/** What a stub answers to one request: a status and a body, JSON unless it is bytes or text. */
type StubAnswer = { readonly status: number; readonly body: unknown; readonly type?: string }

/** Answers by `METHOD path`, without the query; a function is asked anew each time. */
export type StubAnswers = Readonly<Record<string, StubAnswer | (() => StubAnswer)>>

export const KEY = 'rg_live_stub_secret'

const JOB = { id: 'job-1', object: 'video.generation', model: 'famB-1.1-t2v', created_at: 1, expires_at: 2 }
const CHUNK = { choices: [{ index: 0, delta: { content: 'hello' } }] }

/** A deployment in which all is well, at `origin`. */
export function healthyAnswers(origin: string) {
  const succeeded = { ...JOB, status: 'succeeded', url: `${origin}/v/1.mp4?Signature=secret`, output: {} }
  return {
    'GET /v1/models': { status: 200, body: { object: 'list', data: [{ id: 'famB-1.1-t2v' }, { id: 'chat-default' }] } },
    'POST /v1/video/generations': { status: 201, body: { ...JOB, status: 'queued', output: {} } },
    'GET /v1/video/generations/job-1': { status: 200, body: succeeded },
    'GET /v1/video/generations': { status: 200, body: { object: 'list', data: [succeeded] } },
    'GET /v/1.mp4': { status: 200, body: CLIP, type: 'video/mp4' },
    'POST /v1/chat/completions': {
      status: 200,
      body: { choices: [{ message: { content: 'hello' } }], usage: { total_tokens: 3 } },
    },
    'POST /v1/chat/completions stream': {
      status: 200,
      body: `data: ${JSON.stringify(CHUNK)}\n\ndata: [DONE]\n\n`,
      type: 'text/event-stream',
    },
  } satisfies StubAnswers
}

export type SmokeStub = HttpServer & { readonly origin: string; readonly requests: string[] }

/** A server that answers what `answers` says at the moment of the request, and 500 to all else. */
export async function startSmokeStub(answers: () => StubAnswers): Promise<SmokeStub> {
  const requests: string[] = []
  const server = await listen((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const streams = Buffer.concat(chunks).includes('"stream":true') ? ' stream' : ''
      const name = `${request.method} ${request.url?.split('?')[0]}${streams}`
      requests.push(`${name} ${request.headers.authorization ?? 'without a key'}`)
      const found = answers()[name] ?? { status: 500, body: { error: `nothing at ${name}` } }
      const { status, body, type = 'application/json' } = typeof found === 'function' ? found() : found
      const isRaw = typeof body === 'string' || body instanceof Uint8Array
      response.writeHead(status, { 'content-type': type, 'x-request-id': 'request-7' })
      response.end(isRaw ? body : JSON.stringify(body))
    })
  }, 0)
  return { ...server, origin: `http://127.0.0.1:${server.port}`, requests }
}
