/** Lambda always sets the credentials of a function's role; without them nothing could be signed. */
export class MissingCredentialsError extends Error {
  override readonly name = 'MissingCredentialsError'
}

/** What requests are signed with, in the SDK's own shape. */
type Credentials = { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string }

/**
 * Stands in for `@aws-sdk/credential-provider-node` in the bundles of functions: Lambda hands a role's credentials over
 * in the environment, so the SDK's search through profiles, single sign-on and metadata services is left out,
 * and with it a fifth of every bundle. The environment is read for every request.
 * Nothing but bundling knows of this module: what runs unbundled keeps the SDK's own search.
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
