/** Error names of the SDK for missing or expired credentials. */
const MISSING = new Set(['CredentialsProviderError', 'TokenProviderError'])

/** Error names of AWS for refused credentials, which differ between services. */
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

/** The SDK has no error name for this. */
const NO_REGION = 'Region is missing'

/** One sentence about an environment without access to AWS; undefined for any other error. */
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
