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
    const { 'x-amz-target': operation = '', 'content-type': type = '' } = request.headers
    const body = Buffer.concat(await request.toArray()).toString('utf8')
    const headers = { 'x-amz-target': String(operation), 'content-type': type }
    const answer = await fetch(target, { method: 'POST', headers, body })
    const text = await answer.text()
    if (left > 0) {
      left -= 1
      request.socket.destroy()
      return
    }
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(text)
  })
  return {
    ...server,
    loseReplies: (count) => {
      left = count
    },
    left: () => left,
  }
}
