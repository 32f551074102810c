import { Agent, request as httpRequest } from 'node:http'

/** One request of a load. */
export type LoadRequest = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: string }

export type Answer = { readonly status: number; readonly text: string }

/** A client with a fixed number of kept connections. */
export class LoadClient {
  readonly connections: number
  readonly #agent: Agent
  readonly #url: string
  readonly #key: string

  constructor({ url, key, connections }: { url: string; key: string; connections: number }) {
    this.connections = connections
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections })
    this.#url = url
    this.#key = key
  }

  /** Sends one request and reads its answer whole. @throws when the connection fails. */
  send({ method, path, body }: LoadRequest): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const headers = {
      authorization: `Bearer ${this.#key}`,
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
    }
    const request = httpRequest(`${this.#url}${path}`, { method, headers, agent: this.#agent }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      )
    })
    request.on('error', reject)
    request.end(body)
    return promise
  }

  close(): void {
    this.#agent.destroy()
  }
}

export type LoadResult = {
  /** Of every request, in milliseconds. */
  readonly latencies: readonly number[]
  /** Answers of another status, and broken connections. */
  readonly errors: number
  readonly seconds: number
}

type Load = {
  readonly client: LoadClient
  readonly next: () => LoadRequest
  readonly expectedStatus: number
  readonly seconds: number
}

/** Keeps every connection busy for some seconds: each sends its next request when the one before is answered. */
export async function runClosedLoop({ client, next, expectedStatus, seconds }: Load): Promise<LoadResult> {
  const latencies: number[] = []
  let errors = 0
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1000
  const work = async () => {
    for (let sentAt = performance.now(); sentAt < endsAt; sentAt = performance.now()) {
      const answer = await client.send(next()).catch(() => undefined)
      latencies.push(performance.now() - sentAt)
      errors += answer?.status === expectedStatus ? 0 : 1
    }
  }
  await Promise.all(Array.from({ length: client.connections }, work))
  const elapsed = (performance.now() - startedAt) / 1000
  return { latencies, errors, seconds: elapsed }
}
