import { signInHandler } from '#lambdas/admin-api/sign-in/sign-in-handler.ts'
import type { ApiResult } from '#middleware/api-event.ts'
import type { Table } from '#store/table/table.ts'
import { adminEvent } from '../../middleware/admin-exchange.ts'
import { context } from '../../middleware/api-exchange.ts'

/** What a test says of a request. */
type Sent = {
  readonly body?: unknown
  readonly headers?: Record<string, string | undefined>
  readonly query?: Record<string, string>
  /** The address that it comes from. */
  readonly from?: string
}

/** A response with its parsed body. */
export type Received = {
  readonly status: number
  readonly body: Record<string, unknown>
  readonly headers: Record<string, unknown>
  readonly cookies: readonly string[]
}

/** A page of the console in a browser, which keeps the cookie and the page's secret. */
export class Browser {
  cookies = new Map<string, string>()
  pageSecret: string | undefined
  readonly #handler: ReturnType<typeof signInHandler>

  constructor(table: () => Table) {
    this.#handler = signInHandler({ table, environment: process.env })
  }

  async send(
    method: string,
    path: string,
    { body, headers = {}, query = {}, from = '10.0.0.1' }: Sent = {},
  ): Promise<Received> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const event = adminEvent(method, path, {
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      queryStringParameters: query,
      headers: { cookie: cookie === '' ? undefined : cookie, 'x-reelgate-page': this.pageSecret, ...headers },
    })
    event.requestContext.identity.sourceIp = from
    return this.#received(await this.#handler(event, context))
  }

  /** Signs in, and keeps what the response gives. */
  async signIn(body: unknown, sent: Sent = {}): Promise<Received> {
    const received = await this.send('POST', '/admin/v1/session', { body, ...sent })
    const { page_secret: secret } = received.body
    this.pageSecret = typeof secret === 'string' ? secret : this.pageSecret
    return received
  }

  #received({ statusCode, body, headers = {}, multiValueHeaders = {} }: ApiResult): Received {
    const cookies = (multiValueHeaders['set-cookie'] ?? []).map(String)
    for (const cookie of cookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (cookie.includes('Max-Age=0')) {
        this.cookies.delete(name)
      } else {
        this.cookies.set(name, value)
      }
    }
    return { status: statusCode, body: body.startsWith('{') ? JSON.parse(body) : { text: body }, headers, cookies }
  }
}
