import type { IncomingMessage, ServerResponse } from 'node:http'
import { listen } from '#platform/http-server/http-server.ts'

/** What a test makes of an answer while it comes. */
export type PlatformReader = {
  /** Called with the bytes as they come; the next ones are read when it has resolved. */
  readonly read?: (bytes: Buffer, connection: Connection) => Promise<void> | void
  /** What the function has left when it is invoked; fifteen minutes by default. */
  readonly remainingMilliseconds?: number
}

/** The connection that carries an answer to the platform. */
export type Connection = {
  /** Resets it. */
  break(): void
  /** Answers before the end, as the platform does to an answer that is too large, and closes. */
  refuse(): void
}

/** What came to the platform. */
export type Received = {
  readonly raw: Buffer
  readonly contentType: string | undefined
  /** False when the connection broke first. */
  readonly isWhole: boolean
  /** Name of the error with which the function says that it has failed, behind what it wrote. */
  readonly failure: string | undefined
}

type Pending = PlatformReader & {
  readonly id: string
  readonly event: unknown
  readonly resolve: (received: Received) => void
}

/** Lambda's Runtime API for one execution environment: hands out invocations one by one, and takes streamed answers. */
export class RuntimeApi {
  readonly #queue: Pending[] = []
  #current: Pending | undefined
  #asks: ServerResponse | undefined
  #idle = Promise.withResolvers<void>()

  static async start() {
    const api = new RuntimeApi()
    const server = await listen((request, response) => void api.#serve(request, response), 0)
    return { api, address: `127.0.0.1:${server.port}`, close: () => server.close() }
  }

  /** @returns what came of the answer, once it has ended or broken. */
  async invoke(event: unknown, reader: PlatformReader = {}): Promise<Received> {
    this.#idle = Promise.withResolvers()
    return await new Promise((resolve) => {
      this.#queue.push({ ...reader, event, resolve, id: crypto.randomUUID() })
      this.#handOut()
    })
  }

  /** Resolves when the client asks for the next invocation: the one before it is over. */
  async idle(): Promise<void> {
    await this.#idle.promise
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.endsWith('/invocation/next')) {
      this.#asks = response
      this.#handOut()
    } else if (request.url?.endsWith('/response') && this.#current !== undefined) {
      await take(request, response, this.#current)
    } else {
      request.resume()
      response.writeHead(202).end('{}')
    }
  }

  #handOut(): void {
    if (this.#asks === undefined) {
      return
    }
    const next = this.#queue.shift()
    if (next === undefined) {
      this.#idle.resolve()
      return
    }
    const headers = {
      'content-type': 'application/json',
      'Lambda-Runtime-Aws-Request-Id': next.id,
      'Lambda-Runtime-Deadline-Ms': String(Date.now() + (next.remainingMilliseconds ?? 900_000)),
      'Lambda-Runtime-Invoked-Function-Arn': 'arn:aws:lambda:local:000000000000:function:function',
      'Lambda-Runtime-Trace-Id': 'Root=1-00000000-000000000000000000000000;Sampled=0',
    }
    this.#asks.writeHead(200, headers).end(JSON.stringify(next.event))
    this.#asks = undefined
    this.#current = next
  }
}

async function take(request: IncomingMessage, response: ServerResponse, { read, resolve }: Pending): Promise<void> {
  const chunks: Buffer[] = []
  let isEndedEarly = false
  const connection = {
    break: () => {
      isEndedEarly = true
      request.socket.resetAndDestroy()
    },
    refuse: () => {
      isEndedEarly = true
      response.writeHead(413, { connection: 'close' }).end('{"errorType":"Function.ResponseSizeTooLarge"}')
    },
  }
  request.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    const reading = read?.(chunk, connection)
    if (reading !== undefined) {
      request.pause()
      void reading.then(() => request.resume())
    }
  })
  await new Promise((over) => {
    request.once('end', over)
    response.once('close', over)
  })
  const isWhole = request.complete && !isEndedEarly
  if (isWhole) {
    response.writeHead(202).end('{"status":"OK"}')
  }
  const { 'content-type': contentType } = request.headers
  const { 'lambda-runtime-function-error-type': failure } = request.trailers
  resolve({ raw: Buffer.concat(chunks), contentType, isWhole, failure })
}
