import { isJsonObject, type JsonObject, parseJsonObject } from '#core/json/parse-json-text.ts'

/** A step of the smoke test failed. */
export class SmokeFailure extends Error {
  override readonly name = 'SmokeFailure'
  /** Where to look; undefined if the message suffices. */
  readonly lookAt: string | undefined

  constructor(message: string, lookAt?: string) {
    super(message)
    this.lookAt = lookAt
  }
}

/** The failure of the step that runs when the time of the whole test is over. */
export function outOfTime(): SmokeFailure {
  return new SmokeFailure('the time limit of the whole test is over', 'raise the limit with --timeout-seconds')
}

/** Where to look first, by the status of an unexpected response. */
const BY_STATUS: Readonly<Record<number, string>> = {
  400: 'the model does not accept plain text: choose another --model or --chat-model',
  401: 'the key is revoked or belongs to another deployment: npm run admin -- key list, with --stage, or --local for a local host',
  402: 'the tenant has too few credits (npm run admin -- tenant grant), or, as the response says, a budget is used up (tenant budget, key set --budget)',
  403: 'something in front of the gateway refused the request: the address, a web ACL, or an expired url',
  404: '--base-url must be the BaseUrl of the stack, with its stage, or the origin of its ConsoleUrl',
  429: 'a limit of this key, of the tenant, or of every upstream of the model: wait and try again',
  502: 'the upstream or a function failed: the log line of this request has the reason',
  503: 'no channel serves the model: the channel secret, the base url of the channel, and its log lines',
  504: 'the upstream, or the gateway without response streaming, took too long',
}

const OTHERWISE = 'the logs of the function, by the x-request-id above'

/** Where to look after a response with this status: a phrase that completes "look at: ". */
export function whereToLook(status: number): string {
  return BY_STATUS[status] ?? OTHERWISE
}

/** The address of a deployment and a key for it. */
export type GatewayClientOptions = {
  /** Without a final slash and without `/v1`. */
  readonly baseUrl: string
  readonly apiKey: string
  /** Aborts all requests when the time of the test is over. */
  readonly signal: AbortSignal
}

/** A minimal client with plain `fetch`. It depends on the HTTP contract only. */
export class GatewayClient {
  readonly #options: GatewayClientOptions

  constructor(options: GatewayClientOptions) {
    this.#options = options
  }

  /** @throws SmokeFailure for another status, or a body that is not a JSON object. */
  async json(path: string, expected: { status: number; body?: JsonObject }): Promise<JsonObject> {
    const response = await this.send(path, expected)
    return parseResponse(await response.text(), path)
  }

  /**
   * Sends a request and returns the response with its body unread.
   * @throws SmokeFailure for another status, or without a response.
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
   * Downloads from a signed url, without the key.
   * @throws SmokeFailure for a status other than 200.
   */
  async download(url: string): Promise<Response> {
    const response = await reach(url, { signal: this.#options.signal })
    if (response.status !== 200) {
      throw await unexpectedResponse(response, `GET ${withoutQuery(url)}`)
    }
    return response
  }
}

/** Removes the query, because a signature works like a key until it expires. */
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

/** Most characters of a response in a message. */
const SHOWN_CHARACTERS_MAX = 500

async function unexpectedResponse(response: Response, request: string): Promise<SmokeFailure> {
  const text = await response.text().catch(() => '')
  const id = response.headers.get('x-request-id')
  const shown = text.trim().slice(0, SHOWN_CHARACTERS_MAX)
  const message = `${request} returned ${response.status}${id === null ? '' : ` (x-request-id ${id})`} ${shown}`
  return new SmokeFailure(message.trim(), namesModelOrJob(text) ? undefined : whereToLook(response.status))
}

/** Whether the gateway itself says which model or job it does not have: the address is right then, and its sentence suffices. */
function namesModelOrJob(text: string): boolean {
  const error = parseJsonObject(text)?.error
  return /^(model_not_found$|the model |video job not found$)/.test(String(isJsonObject(error) ? error.code : error))
}

function parseResponse(text: string, path: string): JsonObject {
  const body = parseJsonObject(text)
  if (body === undefined) {
    throw new SmokeFailure(
      `${path} did not return a JSON object: ${text.slice(0, SHOWN_CHARACTERS_MAX)}`,
      whereToLook(404),
    )
  }
  return body
}
