import { OperatorError } from '../config/operator-error.ts'

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

/** Names of other errors whose message says everything. */
const EXPLAINED = new Set([
  'StoreRefusal',
  'InvalidAmountError',
  'RangeError',
  // AWS says what is wrong: no such table, no permission.
  'ResourceNotFoundException',
  'AccessDeniedException',
  'AccessDenied',
])

/** Codes of connections that were not established; their errors may have no message. */
const UNREACHABLE = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'EAI_AGAIN'])

/** One sentence for an error that an operator can understand; undefined for a bug, whose stack is printed. */
export function explainFailure(error: unknown): string | undefined {
  if (!(error instanceof Error)) {
    return undefined
  }
  const noAccess = explainAwsAccess(error)
  if (noAccess !== undefined) {
    return noAccess
  }
  const code = 'code' in error ? String(error.code) : ''
  if (UNREACHABLE.has(code)) {
    return `${error.message || code}: the service cannot be reached; does it run, and is the endpoint right?`
  }
  return error instanceof OperatorError || EXPLAINED.has(error.name) ? error.message : undefined
}

/** A command failed: one sentence that says why and what to do. Exit code 1. */
export class CommandFailedError extends OperatorError {
  override readonly name: string = 'CommandFailedError'
}

/** No such stage is deployed, no local host runs, or it lacks something that the command needs. */
export class DeploymentNotFoundError extends CommandFailedError {
  override readonly name = 'DeploymentNotFoundError'
}

/** The stage or local host exists and does not have this output. It keeps its parent's name, so it is explained in the same way. */
export class OutputNotFoundError extends DeploymentNotFoundError {}

/** The person did not confirm; nothing was changed. */
export class NotConfirmedError extends CommandFailedError {
  override readonly name = 'NotConfirmedError'
}

/**
 * Says why a stack could not be read, and what to do. Without access to AWS, it is unknown whether the stack exists, so the reason is the
 * access alone.
 * @param subject the beginning of the sentence, such as `the stack Reelgate-dev`.
 * @param cause the error of the client.
 */
export function unreadableStack(subject: string, cause: unknown): CommandFailedError {
  const noAccess = explainAwsAccess(cause)
  if (noAccess !== undefined) {
    return new CommandFailedError(noAccess, { cause })
  }
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new DeploymentNotFoundError(
    `${subject} cannot be read (${reason}): deploy it, choose another --stage, or add --local`,
    { cause },
  )
}
