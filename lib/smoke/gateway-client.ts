import { type JsonObject, parseJsonObject } from '#core/json/json-object.ts'
import { outOfTime, SmokeFailure } from './smoke-failure.ts'
import { whereToLook } from './where-to-look.ts'

/** Where a deployment is and what opens it. */
export type GatewayClientOptions = {
  /** Without a final slash and without `/v1`. */
  readonly baseUrl: string
  readonly apiKey: string
  /** Ends every request when the whole test has no time left. */
  readonly signal: AbortSignal
}

/** A client as anybody would write it: plain fetch, a base url and a key. It knows the HTTP contract and nothing else. */
export class GatewayClient {
  readonly #options: GatewayClientOptions

  constructor(options: GatewayClientOptions) {
    this.#options = options
  }

  /** @throws SmokeFailure when another status comes, or no JSON object. */
  async json(path: string, expected: { status: number; body?: JsonObject }): Promise<JsonObject> {
    const response = await this.send(path, expected)
    return parseResponse(await response.text(), path)
  }

  /**
   * The response with its body unread.
   * @throws SmokeFailure when another status comes, or none.
   */
  async send(path: string, { status, body }: { status: number; body?: JsonObject }): Promise<Response> {
    const { baseUrl, apiKey, signal } = this.#options
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    const response = await reach(baseUrl + path, { ...init, headers, signal })
    if (response.status !== status) {
      throw await unexpectedResponse(response, `${init.method ?? 'GET'} ${path}`)
    }
    return response
  }

  /**
   * Downloads what a signed url names, without the key: the url alone must do.
   * @throws SmokeFailure when it is not there.
   */
  async download(url: string): Promise<Response> {
    const response = await reach(url, { signal: this.#options.signal })
    if (response.status !== 200) {
      throw await unexpectedResponse(response, `GET ${withoutQuery(url)}`)
    }
    return response
  }
}

/** A signature is as good as a key until it ends. */
export function withoutQuery(url: string): string {
  return url.split('?')[0] ?? ''
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (init.signal?.aborted) {
      throw outOfTime()
    }
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const reason = cause instanceof Error ? cause.message || cause.name : String(cause)
    throw new SmokeFailure(`${withoutQuery(url)} cannot be reached: ${reason}`, 'the --base-url, and the way to it')
  }
}

/** As much of a response as a person reads. */
const SHOWN_CHARACTERS_MAX = 500

async function unexpectedResponse(response: Response, request: string): Promise<SmokeFailure> {
  const text = await response.text().catch(() => '')
  const id = response.headers.get('x-request-id')
  const shown = text.trim().slice(0, SHOWN_CHARACTERS_MAX)
  const said = `${request} answered ${response.status}${id === null ? '' : ` (x-request-id ${id})`} ${shown}`
  return new SmokeFailure(said.trim(), whereToLook(response.status))
}

function parseResponse(text: string, path: string): JsonObject {
  const answer = parseJsonObject(text)
  if (answer === undefined) {
    throw new SmokeFailure(`${path} answered no JSON object: ${text.slice(0, SHOWN_CHARACTERS_MAX)}`, whereToLook(404))
  }
  return answer
}
