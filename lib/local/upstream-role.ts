import type { RoleSource } from '#platform/aws/sts.ts'
import { once } from '#platform/cache.ts'
import { LOCAL_REGION } from '../config/load-gateway-config.ts'
import type { Environment } from '../config/platform-facts.ts'

/**
 * What the shell of a local host knows of an AWS account, by the standard variables or the profile: for upstreams alone, because the engines
 * have credentials of their own. Read before those are set.
 * @returns a source that says, in its error, what is missing.
 */
export function shellRole(environment: Environment): RoleSource {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_PROFILE: profile } = environment
  const sessionToken = environment.AWS_SESSION_TOKEN
  if (accessKeyId && secretAccessKey && !profile) {
    return async () => ({ accessKeyId, secretAccessKey, sessionToken: sessionToken || undefined })
  }
  const region = environment.AWS_REGION ?? LOCAL_REGION
  const client = once(async () => {
    // Loaded where a channel needs it. A named profile keeps the SDK from the variables, in which the engines' credentials are.
    const { STSClient } = await import('@aws-sdk/client-sts')
    return new STSClient({ profile: profile || 'default', region, logger: SILENT })
  })
  return async () => {
    try {
      const { expiration, ...credentials } = await (await client()).config.credentials()
      return { ...credentials, expiresAt: expiration?.getTime() }
    } catch {
      throw new MissingAwsCredentialsError()
    }
  }
}

const ignore = () => undefined

/** Otherwise the SDK warns of the engines' credentials beside the profile, as if the shell had both. */
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** No credentials of AWS were found. */
export class MissingAwsCredentialsError extends Error {
  override readonly name = 'MissingAwsCredentialsError'

  constructor() {
    super('no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, in the environment')
  }
}
