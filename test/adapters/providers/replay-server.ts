import { createServer, type IncomingHttpHeaders } from 'node:http'
import { answerText, type UpstreamFixture } from './upstream-fixture.ts'

export type RecordedRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

export type ReplayServer = {
  readonly url: string
  readonly requests: readonly RecordedRequest[]
  close(): Promise<void>
}

/** An upstream on the loopback interface that answers the method and path of each fixture with its response. */
export async function startReplayServer(fixtures: readonly UpstreamFixture[]): Promise<ReplayServer> {
  const requests: RecordedRequest[] = []
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) {
      chunks.push(chunk)
    }
    const text = Buffer.concat(chunks).toString('utf8')
    const { method = '', url: path = '', headers } = incoming
    requests.push({ method, path, headers, body: text === '' ? null : JSON.parse(text) })
    const fixture = fixtures.find(({ request }) => request.method === method && request.path === path)
    if (fixture === undefined) {
      outgoing.writeHead(501).end('no fixture')
    } else {
      outgoing.writeHead(fixture.response.status, fixture.response.headers).end(answerText(fixture))
    }
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
