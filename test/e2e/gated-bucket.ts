import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { listenHttp } from '../adapters/outbound/loopback.ts'
import { startTestBucket } from '../engines/start-test-bucket.ts'

/** A bucket for a gateway in another process, behind a gate that can hold one write. */
export async function startGatedBucket() {
  const bucket = await startTestBucket()
  let gate: { prefix: string; arrived: () => void; opened: Promise<void> } | undefined
  const front = await listenHttp((incoming, response) => {
    const isHeld = incoming.method === 'PUT' && gate !== undefined && incoming.url?.includes(gate.prefix)
    const held = isHeld ? gate : undefined
    gate = isHeld ? undefined : gate
    held?.arrived()
    Promise.resolve(held?.opened)
      .then(() => passOn(incoming, response, bucket.endpoint))
      .catch(() => response.destroy())
  })
  return {
    /** For the gateway that uses it. */
    environment: {
      AWS_ENDPOINT_URL_S3: front.origin,
      AWS_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
    },
    /** Holds the next write below a prefix from the moment that `arrived` resolves until `open` is called. */
    holdWrite: (prefix: string) => {
      const arrived = Promise.withResolvers<void>()
      const opened = Promise.withResolvers<void>()
      gate = { prefix, arrived: arrived.resolve, opened: opened.promise }
      return { arrived: arrived.promise, open: opened.resolve }
    },
    close: async () => {
      await front.stop()
      await bucket.close()
    },
  }
}

/** The host header stays: it is part of what was signed. */
async function passOn(incoming: IncomingMessage, response: ServerResponse, endpoint: string): Promise<void> {
  const { method, url, headers } = incoming
  const outgoing = request(endpoint + (url ?? ''), { method: method ?? 'GET', headers, setHost: false })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject)
  })
  await pipeline(incoming, outgoing)
  const answer = await answered
  response.writeHead(answer.statusCode ?? 500, answer.headers)
  await pipeline(answer, response)
}
