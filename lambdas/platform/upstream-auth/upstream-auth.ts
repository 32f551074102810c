import type { AwsAuth, RelayChannel, WorkloadIdentity } from '#core/catalogue/channel.ts'
import { type AwsCredentials, signRequest } from '../aws/signature-v4.ts'
import { assumeRole, type ExpiringCredentials, roleCredentials } from '../aws/sts.ts'
import { environmentVariable } from '../configuration.ts'
import { RenewedValue } from './renewed-value.ts'
import { exchangeToken } from './token-exchange.ts'

/** One POST, before it is authorised. Header names are in lower case. */
export type UnauthorisedRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What authorises the requests of a channel without a key of its own. */
export type RequestAuth = {
  /** What neither a log nor a response may contain. */
  readonly secrets: readonly string[]
  /** All headers to send. */
  authorise(request: UnauthorisedRequest): Record<string, string>
}

/** One kind of credential of a channel: its value, and how a value authorises requests. */
type Source = {
  read(): Promise<RequestAuth>
  replace(refused: RequestAuth): Promise<RequestAuth | undefined>
  state(): AuthState
}

/** How the credentials of a channel are, as far as they were used. */
export type AuthState = {
  /** Unix time in milliseconds; undefined before their first use, and where nobody says. */
  readonly expiresAt: number | undefined
  /** Why the last try to get them failed. */
  readonly failure: unknown
}

/** By what decides about them, so that channels of one role or identity share a session. */
const sources = new Map<string, Source>()

function sourceOf({ auth }: Pick<RelayChannel, 'auth'>): Source {
  const name = JSON.stringify(auth)
  const kept = sources.get(name)
  if (kept !== undefined) {
    return kept
  }
  const made = auth?.workload_identity === undefined ? awsSource(auth?.aws) : tokenSource(auth.workload_identity)
  sources.set(name, made)
  return made
}

/**
 * The credentials of a channel with `auth`.
 * @throws what says why there are none: MissingEnvironmentError, AwsServiceError, AwsConnectionError, TokenExchangeError, or what a source of a
 *   local host throws.
 */
export function authOf(channel: Pick<RelayChannel, 'auth'>): Promise<RequestAuth> {
  return sourceOf(channel).read()
}

/** The credentials that replace refused ones; undefined if there are none. @throws as {@link authOf} */
export function replacedAuth(
  channel: Pick<RelayChannel, 'auth'>,
  refused: RequestAuth,
): Promise<RequestAuth | undefined> {
  return sourceOf(channel).replace(refused)
}

/** How the credentials of a channel are in this process. */
export function authState(channel: Pick<RelayChannel, 'auth'>): AuthState {
  return sourceOf(channel).state()
}

/** A request that is under way when its session ends would fail. */
const SESSION_MARGIN_MILLISECONDS = 5 * 60_000

function awsSource(aws: AwsAuth | undefined): Source {
  const {
    service = 'bedrock',
    region = environmentVariable('AWS_REGION'),
    role_arn: roleArn,
    external_id: id,
  } = aws ?? {}
  const signer = (credentials: AwsCredentials) => signerOf({ service, region, credentials })
  if (roleArn === undefined) {
    return ownRoleSource(signer)
  }
  const session = new RenewedValue(async () => {
    const credentials = await assumeRole(roleArn, id)
    const expiresAt = credentials.expiresAt ?? Date.now()
    return { value: signer(credentials), expiresAt, renewAt: expiresAt - SESSION_MARGIN_MILLISECONDS }
  })
  return sourceIn(session)
}

/** The credentials of the role are read for each request, because whoever gives them renews them too. */
function ownRoleSource(signer: (credentials: AwsCredentials) => RequestAuth): Source {
  let last: { readonly credentials: ExpiringCredentials; readonly auth: RequestAuth } | undefined
  let failure: unknown
  const read = async () => {
    const credentials = await roleCredentials().catch((error: unknown) => {
      failure = error
      throw error
    })
    failure = undefined
    if (last === undefined || !isSame(last.credentials, credentials)) {
      last = { credentials, auth: signer(credentials) }
    }
    return last.auth
  }
  return {
    read,
    replace: async (refused) => {
      const auth = await read()
      return auth === refused ? undefined : auth
    },
    state: () => ({ expiresAt: last?.credentials.expiresAt, failure }),
  }
}

function isSame(left: AwsCredentials, right: AwsCredentials): boolean {
  return left.secretAccessKey === right.secretAccessKey && left.sessionToken === right.sessionToken
}

function tokenSource(identity: WorkloadIdentity): Source {
  const token = new RenewedValue(async () => {
    const { value, ...times } = await exchangeToken(identity)
    return { value: bearerOf(value, identity.provider), ...times }
  })
  return sourceIn(token)
}

function sourceIn(value: RenewedValue<RequestAuth>): Source {
  return {
    read: () => value.read(),
    replace: (refused) => value.replace(refused),
    state: () => ({ expiresAt: value.expiresAt, failure: value.failure }),
  }
}

/** What Anthropic's API asks of requests with such a token. */
const TOKEN_BETA = 'oauth-2025-04-20'

function bearerOf(token: string, provider: WorkloadIdentity['provider']): RequestAuth {
  return {
    secrets: [token],
    authorise: ({ headers }) => {
      const betas = [headers['anthropic-beta'], TOKEN_BETA].filter((beta) => beta !== undefined).join(',')
      const added = provider === 'anthropic' ? { 'anthropic-beta': betas } : {}
      return { ...headers, ...added, authorization: `Bearer ${token}` }
    },
  }
}

type Scope = { readonly service: string; readonly region: string; readonly credentials: AwsCredentials }

/** Signs what AWS demands, and no header that a connection may change. The id of an access key tells the number of its account. */
function signerOf(scope: Scope): RequestAuth {
  const { accessKeyId, secretAccessKey, sessionToken } = scope.credentials
  return {
    secrets: [accessKeyId, secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])],
    authorise: ({ url, headers, body }) => {
      const { host, pathname: path } = new URL(url)
      const unsigned = { host, 'content-type': headers['content-type'] ?? '' }
      const signed = signRequest({ path, headers: unsigned, body }, { ...scope, nowMilliseconds: Date.now() })
      return { ...headers, ...signed }
    },
  }
}
