import { explainAwsAccess } from '../deployment/aws-access.ts'

/** Errors that are meant for the person at the keyboard: their message is all there is to say. */
const EXPLAINED = new Set([
  'GatewayConfigError',
  'StageSettingsError',
  'TenantStateChangedError',
  'NoDynamoDbEngineError',
  'DataDirectoryInUseError',
  'DataDirectoryUnusableError',
  'BrokenStateFileError',
  'InvalidAmountError',
  'InvalidLocalKeyError',
  'RangeError',
  'TenantNotFoundError',
  'TenantExistsError',
  'GrantIdTakenError',
  'ApiKeyNotFoundError',
  'ApiKeyChangedError',
  'WebhookSecretChangedError',
  'UsageError',
  'CommandFailedError',
  'DeploymentNotFoundError',
  'NotConfirmedError',
  // AWS itself says what is wrong: no such table, no permission.
  'ResourceNotFoundException',
  'AccessDeniedException',
  'AccessDenied',
])

/** Codes of connections that never stood; their error may come without a message. */
const UNREACHABLE = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'EAI_AGAIN'])

/** What a person is told of an error that explains itself; undefined for one that is ours, whose stack is wanted. */
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
  return EXPLAINED.has(error.name) ? error.message : undefined
}
