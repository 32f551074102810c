import { randomBytes } from 'node:crypto'
import type { Environment } from '../config/platform-facts.ts'
import { headerClaim, isSame, isSignature, queryClaim, type SignedRequest } from '../simulators/aws-signature.ts'

/** Credentials that sign requests to the engines. */
export type EngineCredentials = { readonly accessKeyId: string; readonly secretAccessKey: string }

/** The same at every start, because some DynamoDB-compatible engines keep separate tables for each id. */
const ACCESS_KEY_ID = 'S3RVER'

const SECRET_BYTES = 32

const SIMULATOR_KEY_VARIABLE = 'REELGATE_SIMULATOR_KEY'

/** Endpoints of external engines. */
const ENDPOINT_VARIABLES = ['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_DYNAMODB', 'AWS_ENDPOINT_URL_S3'] as const

/** Other sources of credentials, which would take precedence over the pair or mix with it. */
const OTHER_SOURCES = ['AWS_SESSION_TOKEN', 'AWS_PROFILE'] as const

/**
 * The credentials that the engines of this start accept: a new secret, so that other users of the machine cannot use the ports.
 * @returns `isGiven` if the environment has credentials for an external engine; they are used for all.
 */
export function engineCredentials(environment: Environment): EngineCredentials & { readonly isGiven: boolean } {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment
  if (ENDPOINT_VARIABLES.some((name) => environment[name]) && accessKeyId && secretAccessKey) {
    return { accessKeyId, secretAccessKey, isGiven: true }
  }
  return { accessKeyId: ACCESS_KEY_ID, secretAccessKey: newSecret(), isGiven: false }
}

/** A key that the simulated upstreams of this start accept, set where the gateway looks for upstream keys. */
export function giveSimulatorKey(): { readonly name: string; readonly value: string } {
  const value = newSecret()
  process.env[SIMULATOR_KEY_VARIABLE] = value
  return { name: SIMULATOR_KEY_VARIABLE, value }
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/** Makes the AWS clients of this process sign with these credentials only, whatever the environment has. */
export function signWith({ accessKeyId, secretAccessKey }: EngineCredentials): void {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey })
  for (const name of OTHER_SOURCES) {
    delete process.env[name]
  }
}

/** Lets engines start here, and no client use what the shell knows of an AWS account. */
export function forgetAws(environment: Environment): void {
  for (const name of Object.keys(environment).filter((each) => each.startsWith('AWS_'))) {
    Reflect.deleteProperty(environment, name)
  }
}

/**
 * Whether a request was signed with these credentials, by AWS Signature Version 4, in the header or in the query. The body is not compared
 * with its signed digest, because no one else can change traffic on loopback. The age of a header does not matter; the server of a presigned
 * url checks the url's age.
 */
export function isSignedWith(request: SignedRequest, { accessKeyId, secretAccessKey }: EngineCredentials): boolean {
  const claim = headerClaim(request) ?? queryClaim(request)
  return claim !== undefined && isSame(claim.accessKeyId, accessKeyId) && isSignature(request, claim, secretAccessKey)
}
