import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request as openRequest } from 'node:http'
import type { Mark } from './mark.ts'
import { type KindName, kindOf } from './marked-request.ts'

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
