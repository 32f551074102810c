/** Errors that are meant for the person at the keyboard: their message is all there is to say. */
const EXPLAINED = new Set([
  'GatewayConfigError',
  'NoDynamoDbEngineError',
  'DataDirectoryInUseError',
  'InvalidAmountError',
  'InvalidLocalKeyError',
  'RangeError',
  'TenantNotFoundError',
  'TenantExistsError',
  'ApiKeyNotFoundError',
  'UsageError',
  // AWS itself says what is wrong: no such table, no credentials, no permission.
  'ResourceNotFoundException',
  'CredentialsProviderError',
  'UnrecognizedClientException',
  'AccessDeniedException',
])

/** Ends a command that failed: one sentence where the error explains itself, the stack where it is ours. */
export function printFailure(error: unknown): void {
  const isExplained = error instanceof Error && EXPLAINED.has(error.name)
  const isPortTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
  const isUsage = error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
  if (error instanceof Error && (isExplained || isPortTaken || isUsage)) {
    console.error(isPortTaken ? `${error.message}: choose another --port, or --port 0 for a free one` : error.message)
  } else {
    console.error(error)
  }
  process.exit(1)
}
