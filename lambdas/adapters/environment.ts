/** A function was deployed without a variable that it needs: a fault of the stack, never of a request. */
export class MissingEnvironmentError extends Error {
  override readonly name = 'MissingEnvironmentError'
}

/**
 * Reads one environment variable.
 * @throws MissingEnvironmentError when it is unset or empty.
 */
export function environmentVariable(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '') {
    throw new MissingEnvironmentError(`${name} is not set`)
  }
  return value
}
