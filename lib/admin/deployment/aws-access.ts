/** Names by which the SDK says that it found no credentials, or none that work any more. */
const MISSING = new Set(['CredentialsProviderError', 'TokenProviderError'])

/** Names by which AWS refuses the credentials that it was shown; services differ. */
const REFUSED = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'RequestExpired',
  'InvalidClientTokenId',
  'UnrecognizedClientException',
  'InvalidAccessKeyId',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
])

/** The SDK has no name for this one. */
const NO_REGION = 'Region is missing'

/** One sentence about an environment in which AWS cannot be asked at all; undefined for every other error. */
export function explainAwsAccess(error: unknown): string | undefined {
  if (!(error instanceof Error)) {
    return undefined
  }
  if (error.message === NO_REGION) {
    return 'no AWS region is set: export AWS_REGION, or name a profile that has one (AWS_PROFILE)'
  }
  if (MISSING.has(error.name)) {
    return `no AWS credentials that work (${error.message}): export them, or sign in and name a profile (AWS_PROFILE)`
  }
  return REFUSED.has(error.name)
    ? `AWS refuses the credentials (${error.message || error.name}): sign in again, or export others`
    : undefined
}
