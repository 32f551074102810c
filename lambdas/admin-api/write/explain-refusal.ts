import { AdminConflictError, AdminNotFoundError } from '#core/console/admin-errors.ts'

/** Errors of stores and use cases whose target does not exist. */
const NOT_FOUND: ReadonlySet<string> = new Set(['TenantNotFoundError', 'ApiKeyNotFoundError'])

/** Errors whose message says enough, with the code of the response. Nothing was changed. */
const CONFLICTS: ReadonlyMap<string, string> = new Map([
  ['KeyUnusableError', 'key_unusable'],
  ['TenantSuspendedError', 'tenant_suspended'],
  ['RedriveRefusedError', 'redrive_refused'],
  ['ApiKeyChangedError', 'changed_meanwhile'],
  ['TenantChangedError', 'changed_meanwhile'],
  ['TenantStateChangedError', 'changed_meanwhile'],
  ['TenantUnsettledError', 'changed_meanwhile'],
  ['WebhookSecretChangedError', 'changed_meanwhile'],
  ['SwitchesContendedError', 'changed_meanwhile'],
  ['PlaygroundKeyContendedError', 'changed_meanwhile'],
  ['JobMovedError', 'changed_meanwhile'],
])

/** Turns the refusal of a store or a use case into the error of the response; gives back any other error. */
export function explainRefusal(error: unknown): unknown {
  if (!(error instanceof Error)) {
    return error
  }
  const { name, message } = error
  if (NOT_FOUND.has(name)) {
    return new AdminNotFoundError(message, { cause: error })
  }
  const code = CONFLICTS.get(name)
  if (code !== undefined) {
    return new AdminConflictError(message, code, { cause: error })
  }
  switch (name) {
    case 'GrantIdTakenError':
    case 'AdjustmentIdTakenError':
      return new AdminConflictError(message, 'id_taken', { param: 'id', cause: error })
    case 'AdjustmentBelowZeroError':
      return new AdminConflictError(`${message}; \`allow_debt\` permits this`, 'below_zero', {
        param: 'allow_debt',
        cause: error,
      })
    case 'ApiKeyRevokedError':
      return new AdminConflictError('the key is revoked, which is final: create a new one', 'key_unusable', {
        cause: error,
      })
    default:
      return error
  }
}
