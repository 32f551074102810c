import { randomBytes } from 'node:crypto'
import type { Environment } from '../config/environment.ts'

/** What requests to the engines are signed with. */
export type EngineCredentials = { readonly accessKeyId: string; readonly secretAccessKey: string }

/** The same at every start: some DynamoDB-compatible engines keep a table for each id. */
const ACCESS_KEY_ID = 'S3RVER'

const SECRET_BYTES = 32

const SIMULATOR_KEY_VARIABLE = 'REELGATE_SIMULATOR_KEY'

/** Endpoints of engines that somebody else runs. */
const ENDPOINT_VARIABLES = ['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_DYNAMODB', 'AWS_ENDPOINT_URL_S3'] as const

/** Other sources of credentials, which would come before the pair or with it. */
const OTHER_SOURCES = ['AWS_SESSION_TOKEN', 'AWS_PROFILE'] as const

/**
 * The pair that the engines of this start take: a secret that is made now and known to nobody else, so that other users of
 * the machine find closed ports.
 * @returns `isGiven` where the environment has a pair for an engine that somebody else runs: it is used for all.
 */
export function engineCredentials(environment: Environment): EngineCredentials & { readonly isGiven: boolean } {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment
  if (ENDPOINT_VARIABLES.some((name) => environment[name]) && accessKeyId && secretAccessKey) {
    return { accessKeyId, secretAccessKey, isGiven: true }
  }
  return { accessKeyId: ACCESS_KEY_ID, secretAccessKey: newSecret(), isGiven: false }
}

/** A key that the simulated upstreams of this start take, put where the gateway looks for the keys of upstreams. */
export function giveSimulatorKey(): { readonly name: string; readonly value: string } {
  const value = newSecret()
  process.env[SIMULATOR_KEY_VARIABLE] = value
  return { name: SIMULATOR_KEY_VARIABLE, value }
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/** Makes the AWS clients of this process sign with a pair, and with nothing else that the environment may name. */
export function signWith({ accessKeyId, secretAccessKey }: EngineCredentials): void {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey })
  for (const name of OTHER_SOURCES) {
    delete process.env[name]
  }
}
