import { AwsServiceError, environmentCredentials, postToAws } from './call-aws-service.ts'
import type { AwsCredentials } from './signature-v4.ts'

/** Credentials that end; those of the environment are valid for as long as the process may run. */
export type ExpiringCredentials = AwsCredentials & {
  /** Unix time in milliseconds; undefined where nobody says. */
  readonly expiresAt?: number | undefined
}

/** Where the credentials of the role come from, for each request anew. */
export type RoleSource = () => Promise<ExpiringCredentials>

let source: RoleSource = async () => environmentCredentials()

/** Takes the credentials from elsewhere than the environment, where a local host has those of its engines. */
export function takeRoleFrom(other: RoleSource): void {
  source = other
}

/**
 * The credentials of the function's role.
 * @throws MissingEnvironmentError, or what the source of a local host throws without credentials.
 */
export function roleCredentials(): Promise<ExpiringCredentials> {
  return source()
}

/** The longest session of a role that a role assumes ("role chaining"), which is also the default of every role. */
const SESSION_SECONDS = 3_600

/** @throws AwsServiceError, AwsConnectionError, and as {@link roleCredentials}. */
export async function assumeRole(roleArn: string, externalId: string | undefined): Promise<ExpiringCredentials> {
  const read = await callSts({
    Action: 'AssumeRole',
    RoleArn: roleArn,
    RoleSessionName: 'reelgate',
    DurationSeconds: String(SESSION_SECONDS),
    ...(externalId === undefined ? {} : { ExternalId: externalId }),
  })
  return {
    accessKeyId: read('AccessKeyId'),
    secretAccessKey: read('SecretAccessKey'),
    sessionToken: read('SessionToken'),
    expiresAt: Date.parse(read('Expiration')),
  }
}

/** The shortest life by default; the token is exchanged at once. Policies of the stack allow no longer one. */
const TOKEN_SECONDS = 300

/**
 * A token of the role for somebody outside of AWS, signed by AWS, valid for five minutes.
 * @throws as {@link assumeRole}
 */
export async function webIdentityToken(audience: string): Promise<string> {
  const read = await callSts({
    Action: 'GetWebIdentityToken',
    'Audience.member.1': audience,
    SigningAlgorithm: 'RS256',
    DurationSeconds: String(TOKEN_SECONDS),
  })
  return read('WebIdentityToken')
}

type ReadElement = (name: string) => string

/** One operation of STS, in its query protocol, whose responses are XML without attributes. */
async function callSts(parameters: Readonly<Record<string, string>>): Promise<ReadElement> {
  const body = new URLSearchParams({ ...parameters, Version: '2011-06-15' }).toString()
  const { status, headers, text } = await postToAws({ service: 'sts', body, credentials: await roleCredentials() })
  const find = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]?.trim()
  if (status !== 200) {
    const requestId = headers['x-amzn-requestid']
    // The message names the role and the account, so the error has the code alone.
    throw new AwsServiceError(status, typeof requestId === 'string' ? requestId : undefined, { __type: find('Code') })
  }
  return (name) => {
    const value = find(name)
    if (!value) {
      throw new AwsServiceError(status, undefined, { __type: 'InvalidResponse' })
    }
    return unescaped(value)
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescaped(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|apos);/g, (whole, name: string) => ENTITIES[name] ?? whole)
}
