import { once } from 'node:events'
import { request as openRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Loopback, listenHttp } from '../adapters/outbound/loopback.ts'

type LossyProxy = Loopback & {
  loseReplies(count: number): void
  /** Replies that are still to be lost. */
  left(): number
}

/** A proxy in front of an AWS service of this machine that drops connections after the service has done its work. */
export async function startLossyProxy(target: string): Promise<LossyProxy> {
  let left = 0
  const server = await listenHttp(async (request, response) => {
    // The headers go on as they came, the host among them: they are what was signed.
    const { method = 'POST', url = '/', headers } = request
    const passedOn = openRequest(target + url, { method, headers, setHost: false })
    request.pipe(passedOn)
    const [reply] = await once(passedOn, 'response')
    const body = await text(reply)
    if (left > 0) {
      left -= 1
      request.socket.destroy()
      return
    }
    response.writeHead(reply.statusCode, { 'content-type': reply.headers['content-type'] ?? '' }).end(body)
  })
  return {
    ...server,
    loseReplies: (count) => {
      left = count
    },
    left: () => left,
  }
}
