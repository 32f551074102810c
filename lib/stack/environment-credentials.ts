/** The environment has no credentials. Lambda always sets those of a function's role. */
export class MissingCredentialsError extends Error {
  override readonly name = 'MissingCredentialsError'
}

/** Credentials in the shape of the SDK. */
type Credentials = { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string }

/**
 * Replaces `@aws-sdk/credential-provider-node` in bundles. Lambda passes the credentials of a role in the environment, so the SDK's
 * search through profiles, single sign-on and metadata services is omitted, a fifth of every bundle. The environment is read for
 * every request. Unbundled code keeps the SDK's search.
 */
export function defaultProvider(): () => Promise<Credentials> {
  return async () => readCredentials(process.env)
}

/** @throws MissingCredentialsError */
function readCredentials(environment: Readonly<Record<string, string | undefined>>): Credentials {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = environment
  if (!accessKeyId || !secretAccessKey) {
    throw new MissingCredentialsError('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set')
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) }
}
