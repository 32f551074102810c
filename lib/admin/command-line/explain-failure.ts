import { explainAwsAccess } from '../deployment/aws-access.ts'

/** Errors for the operator: their message says everything. */
const EXPLAINED = new Set([
  'StoreRefusal',
  'GatewayConfigError',
  'StageSettingsError',
  'NoDynamoDbEngineError',
  'DataDirectoryInUseError',
  'DataDirectoryUnusableError',
  'BrokenStateFileError',
  'InvalidAmountError',
  'InvalidLocalKeyError',
  'RangeError',
  'UsageError',
  'CommandFailedError',
  'DeploymentNotFoundError',
  'NotConfirmedError',
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
  return EXPLAINED.has(error.name) ? error.message : undefined
}
