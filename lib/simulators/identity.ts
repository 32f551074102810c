import { randomBytes } from 'node:crypto'
import { type AwsRefusal, isRefusal, type ReceivedRequest, type SimulatedAccount } from './aws-account.ts'
import { type Exchange, type Simulator, type SimulatorPlace, startServer } from './server.ts'

/** Who may exchange tokens at a provider, with the ids that its console shows. */
export type TokenClient = {
  readonly provider: 'openai' | 'anthropic'
  readonly ids: Readonly<Record<string, string | undefined>>
}

type IdentityOptions = SimulatorPlace & {
  readonly account: SimulatedAccount
  readonly region: string
  readonly clients: readonly TokenClient[]
  /** Seconds for which a token of a provider is valid; an hour by default. */
  readonly tokenSeconds?: number
}

/** STS of an account, and the token endpoints of providers, which take its tokens. */
export type IdentitySimulator = Simulator & {
  /** The token endpoint of a provider. */
  tokenUrl(provider: TokenClient['provider']): string
  /** Whether a bearer is a token that a provider has issued and that is still valid. */
  isToken(provider: TokenClient['provider'], bearer: string | undefined): boolean
  /** Ends every token of the providers. */
  revokeTokens(): void
  /** Answers the next requests to STS or to the token endpoints with a status of its own, until it is undefined again. */
  failWith(status: number | undefined): void
}

const PATHS = { openai: '/oauth/token', anthropic: '/v1/oauth/token' } as const

const AUDIENCES = { openai: 'https://api.openai.com/v1', anthropic: 'https://api.anthropic.com' } as const

/** Longest assertion that Anthropic takes. */
const ASSERTION_BYTES_MAX = 16 * 1024

/** Starts STS and the token endpoints on one port. Rejects if the port is taken. */
export async function startIdentitySimulator(options: IdentityOptions): Promise<IdentitySimulator> {
  const identity = new Identity(options)
  const server = await startServer(options, async ({ method, path, headers }, exchange, body) =>
    identity.handle({ method, path, headers, body }, exchange),
  )
  return {
    ...server,
    tokenUrl: (provider) => `${server.baseUrl}${PATHS[provider]}`,
    isToken: (provider, bearer) => identity.isToken(provider, bearer),
    revokeTokens: () => identity.tokens.clear(),
    failWith: (status) => {
      identity.failure = status
    },
  }
}

class Identity {
  readonly #options: IdentityOptions
  readonly #now: () => number
  readonly tokens = new Map<string, { readonly provider: string; readonly expiresAt: number }>()
  failure: number | undefined

  constructor(options: IdentityOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  handle(request: ReceivedRequest, exchange: Exchange): void {
    if (this.failure !== undefined) {
      exchange.send(this.failure, {}, '')
    } else if (request.path === PATHS.openai) {
      sendJson(exchange, this.#exchangeAtOpenAi(request))
    } else if (request.path === PATHS.anthropic) {
      sendJson(exchange, this.#exchangeAtAnthropic(request))
    } else {
      this.#sts(request, exchange)
    }
  }

  isToken(provider: string, bearer: string | undefined): boolean {
    const token = this.tokens.get(bearer ?? '')
    return token?.provider === provider && this.#now() < token.expiresAt
  }

  #sts(request: ReceivedRequest, exchange: Exchange): void {
    const form = new URLSearchParams(request.body)
    const action = form.get('Action') ?? ''
    const { account, region } = this.#options
    const caller = account.callerOf(request, { service: 'sts', region, action: `sts:${action}` })
    const outcome = isRefusal(caller) ? caller : this.#stsOutcome(action, form, caller.roleArn)
    const [status, text] = typeof outcome === 'string' ? [200, outcome] : [outcome.status, stsError(outcome)]
    exchange.send(status, { 'content-type': 'text/xml', 'x-amzn-requestid': newId() }, text)
  }

  #stsOutcome(action: string, form: URLSearchParams, roleArn: string): string | AwsRefusal {
    const { account } = this.#options
    const invalid = (message: string) => ({ status: 400, code: 'ValidationError', message })
    const seconds = Number(form.get('DurationSeconds'))
    if (action === 'AssumeRole') {
      const assumed = form.get('RoleArn') ?? ''
      if (!/^arn:aws:iam::\d{12}:role\//.test(assumed) || (form.get('RoleSessionName') ?? '').length < 2) {
        return invalid('1 validation error detected')
      }
      const issued = account.issue(assumed, seconds * 1_000)
      const expiration = new Date(issued.expiresAt).toISOString()
      return stsResult(
        action,
        `<Credentials><AccessKeyId>${issued.accessKeyId}</AccessKeyId><SecretAccessKey>${issued.secretAccessKey}</SecretAccessKey><SessionToken>${issued.sessionToken}</SessionToken><Expiration>${expiration}</Expiration></Credentials>`,
      )
    }
    const audience = form.get('Audience.member.1') ?? ''
    if (action !== 'GetWebIdentityToken' || audience === '') {
      return invalid('The action or parameter is not valid for this endpoint')
    }
    if (!/^(RS256|ES384)$/.test(form.get('SigningAlgorithm') ?? '') || !(seconds >= 60 && seconds <= 3_600)) {
      return invalid('1 validation error detected')
    }
    const token = account.issueToken(roleArn, audience, seconds)
    const expiration = new Date(this.#now() + seconds * 1_000).toISOString()
    return stsResult(action, `<WebIdentityToken>${token}</WebIdentityToken><Expiration>${expiration}</Expiration>`)
  }

  #exchangeAtOpenAi({ method, headers, body }: ReceivedRequest): TokenReply {
    const form = new URLSearchParams(body)
    const isForm = method === 'POST' && headers['content-type'] === 'application/x-www-form-urlencoded'
    const isGrant = form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:token-exchange'
    const isJwt = form.get('subject_token_type') === 'urn:ietf:params:oauth:token-type:jwt'
    const fail = (error: string, error_description: string) => ({ status: 400, body: { error, error_description } })
    if (!(isForm && isGrant && isJwt)) {
      return fail('invalid_request', 'unsupported exchange')
    }
    const token = form.get('subject_token') ?? ''
    if (!this.#isKnown('openai', Object.fromEntries(form), token)) {
      // Real endpoints repeat what they were sent.
      return fail('invalid_grant', `subject token ${token} is not valid`)
    }
    const issuedType = 'urn:ietf:params:oauth:token-type:access_token'
    const issued = this.#issue('openai', `oai-wif-${newId()}${newId()}`)
    return { status: 200, body: { ...issued, issued_token_type: issuedType } }
  }

  #exchangeAtAnthropic({ method, headers, body }: ReceivedRequest): TokenReply {
    const fail = (status: number, type: string, message: string) => ({
      status,
      body: { type: 'error', error: { type, message } },
    })
    const betas = String(headers['anthropic-beta'] ?? '').split(',')
    const asked = Object(parseJson(body)) as Record<string, unknown>
    if (method !== 'POST' || !betas.includes('oidc-federation-2026-04-01') || !betas.includes('oauth-2025-04-20')) {
      return fail(404, 'not_found_error', 'Not found')
    }
    if (asked.grant_type !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') {
      return fail(400, 'invalid_request_error', 'unsupported grant_type')
    }
    const assertion = String(asked.assertion ?? '')
    if (Buffer.byteLength(assertion) > ASSERTION_BYTES_MAX) {
      return fail(400, 'invalid_request_error', 'assertion is too large')
    }
    if (!this.#isKnown('anthropic', asked, assertion)) {
      return fail(401, 'authentication_error', `assertion ${assertion} matches no federation rule`)
    }
    return { status: 200, body: this.#issue('anthropic', `sk-ant-oat01-${newId()}${newId()}`) }
  }

  /** Whether an identity that a provider knows shows a token of the account that is meant for the provider. */
  #isKnown(provider: TokenClient['provider'], asked: Readonly<Record<string, unknown>>, token: string): boolean {
    const identity = this.#options.account.identityOf(token)
    const isClient = this.#options.clients.some(
      (client) => client.provider === provider && Object.entries(client.ids).every(([name, id]) => asked[name] === id),
    )
    return isClient && identity?.audience === AUDIENCES[provider]
  }

  #issue(provider: TokenClient['provider'], token: string) {
    const { tokenSeconds: seconds = 3_600 } = this.#options
    this.tokens.set(token, { provider, expiresAt: this.#now() + seconds * 1_000 })
    return { access_token: token, token_type: 'Bearer', expires_in: seconds }
  }
}

function stsResult(action: string, inner: string): string {
  return `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><${action}Result>${inner}</${action}Result><ResponseMetadata><RequestId>${newId()}</RequestId></ResponseMetadata></${action}Response>`
}

function stsError({ code, message }: AwsRefusal): string {
  return `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code.replace(/Exception$/, '')}</Code><Message>${message}</Message></Error><RequestId>${newId()}</RequestId></ErrorResponse>`
}

type TokenReply = { readonly status: number; readonly body: object }

function sendJson(exchange: Exchange, { status, body }: TokenReply): void {
  exchange.send(status, { 'content-type': 'application/json' }, JSON.stringify(body))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function newId(): string {
  return randomBytes(16).toString('hex')
}
