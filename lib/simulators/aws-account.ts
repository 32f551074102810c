import { hash, randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type Claim, encode, headerClaim, isSignature, pathOf } from './aws-signature.ts'

/** Credentials of a role, as STS issues them. */
export type SimulatedCredentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string
  /** Unix time in milliseconds. */
  readonly expiresAt: number
}

type Issued = SimulatedCredentials & { readonly roleArn: string }

/** What a token of a role says. */
export type SimulatedIdentity = { readonly audience: string; readonly roleArn: string; readonly expiresAt: number }

/** A refusal in the form of AWS. */
export type AwsRefusal = { readonly status: number; readonly code: string; readonly message: string }

/** A request as it was received. */
export type ReceivedRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What a request must be signed for. `action` names the permission that another role lacks. */
export type SignedFor = {
  readonly service: string
  readonly region: string
  /** The only role that may do it. */
  readonly roleArn?: string | undefined
  readonly action: string
}

const ACCOUNT = '111122223333'

/** A signature is valid for five minutes (Signature Version 4). */
const SKEW_MILLISECONDS_MAX = 5 * 60_000

const DAY_MILLISECONDS = 24 * 60 * 60_000

/** An account with one role, the issuer of its sessions and of its tokens. All of it is forgotten with the process. */
export class SimulatedAccount {
  readonly roleArn = `arn:aws:iam::${ACCOUNT}:role/gateway`
  readonly issuer = `https://${randomBytes(16).toString('hex')}.tokens.sts.global.api.aws`
  readonly #now: () => number
  readonly #issued = new Map<string, Issued>()
  readonly #tokens = new Map<string, SimulatedIdentity>()

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** A session of a role; by default of the account's own, for a day. */
  issue(roleArn: string = this.roleArn, milliseconds: number = DAY_MILLISECONDS): SimulatedCredentials {
    const issued = {
      accessKeyId: `ASIA${randomBytes(8).toString('hex').toUpperCase()}`,
      secretAccessKey: randomBytes(30).toString('base64'),
      sessionToken: randomBytes(120).toString('base64'),
      expiresAt: this.#now() + milliseconds,
      roleArn,
    }
    this.#issued.set(issued.accessKeyId, issued)
    return issued
  }

  /** Ends a session before its time. */
  expire({ accessKeyId }: Pick<SimulatedCredentials, 'accessKeyId'>): void {
    const issued = this.#issued.get(accessKeyId)
    if (issued !== undefined) {
      this.#issued.set(accessKeyId, { ...issued, expiresAt: this.#now() })
    }
  }

  /** A token of a role in the form of a JWT. Nobody can verify its signature but this account. */
  issueToken(roleArn: string, audience: string, seconds: number): string {
    const now = Math.floor(this.#now() / 1_000)
    const times = { iat: now, exp: now + seconds }
    const claims = { iss: this.issuer, sub: roleArn, aud: audience, jti: randomBytes(16).toString('hex'), ...times }
    const parts = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    )
    const token = [...parts, randomBytes(256).toString('base64url')].join('.')
    this.#tokens.set(token, { audience, roleArn, expiresAt: times.exp * 1_000 })
    return token
  }

  /** What a token says; undefined for one that this account did not issue, or that has ended. */
  identityOf(token: string): SimulatedIdentity | undefined {
    const identity = this.#tokens.get(token)
    return identity !== undefined && this.#now() < identity.expiresAt ? identity : undefined
  }

  /** The role that signed a request, or why it is refused. */
  callerOf(request: ReceivedRequest, signedFor: SignedFor): { readonly roleArn: string } | AwsRefusal {
    const url = { method: request.method, url: request.path, headers: request.headers }
    const claim = headerClaim(url)
    if (claim === undefined) {
      return refused('MissingAuthenticationTokenException', 'Missing Authentication Token')
    }
    const issued = this.#issued.get(claim.accessKeyId)
    if (issued === undefined || issued.sessionToken !== request.headers['x-amz-security-token']) {
      return refused('UnrecognizedClientException', 'The security token included in the request is invalid.')
    }
    const problem = this.#scopeProblem(claim, signedFor) ?? unsignedHeader(claim)
    if (problem !== undefined) {
      return refused('InvalidSignatureException', problem)
    }
    const path = pathOf(url).split('/').map(encode).join('/')
    const signed = { ...claim, bodyDigest: hash('sha256', request.body) }
    if (!isSignature(url, signed, issued.secretAccessKey, path)) {
      return refused('InvalidSignatureException', wrongSignature(request, path))
    }
    if (this.#now() >= issued.expiresAt) {
      return refused('ExpiredTokenException', 'The security token included in the request is expired')
    }
    const { roleArn = issued.roleArn, action } = signedFor
    return roleArn === issued.roleArn ? issued : lacks(issued.roleArn, action)
  }

  #scopeProblem({ scope, time }: Claim, { service, region }: SignedFor): string | undefined {
    const [date, ...rest] = scope
    const at = Date.parse(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
    if (rest[0] !== region) {
      return `Credential should be scoped to a valid region. `
    }
    if (rest[1] !== service) {
      return `Credential should be scoped to correct service: '${service}'. `
    }
    if (rest[2] !== 'aws4_request' || date !== time.slice(0, 8) || Number.isNaN(at)) {
      return "Credential should be scoped with a valid terminator: 'aws4_request'."
    }
    return Math.abs(this.#now() - at) > SKEW_MILLISECONDS_MAX
      ? `Signature expired: ${time} is now earlier than ${new Date(this.#now()).toISOString()}`
      : undefined
  }
}

function unsignedHeader({ signedHeaders }: Claim): string | undefined {
  const missing = ['host', 'x-amz-date', 'x-amz-security-token'].filter((name) => !signedHeaders.includes(name))
  return missing.length === 0
    ? undefined
    : `'${missing[0]}' must be a 'SignedHeader' in the AWS Authorization. Authorization=...`
}

/** AWS repeats the headers that it has verified, tokens included. */
function wrongSignature({ method, headers }: ReceivedRequest, path: string): string {
  return `The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.

The Canonical String for this request should have been
'${method}
${path}

host:${headers.host}
x-amz-security-token:${headers['x-amz-security-token']}'`
}

/** The refusal of a role without a permission. */
export function lacks(roleArn: string, action: string): AwsRefusal {
  const message = `User: ${sessionOf(roleArn)} is not authorized to perform: ${action} because no identity-based policy allows the ${action} action`
  return refused('AccessDeniedException', message)
}

/** The ARN by which AWS names a session of a role. */
function sessionOf(roleArn: string): string {
  return `${roleArn.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/reelgate`
}

function refused(code: string, message: string): AwsRefusal {
  return { status: 403, code, message }
}

/** Whether something is refused. */
export function isRefusal(outcome: object): outcome is AwsRefusal {
  return 'code' in outcome
}
