import { isSameString } from '../crypto/same-string.ts'
import { readSecretEntries } from './secret-reader.ts'

/**
 * Whether a value is a secret of the front door: `current`, or `previous` while one is replaced. After a value that is none, the
 * secret is read again, at most every ten seconds, because it may have been replaced.
 * @throws MissingSecretError, ServiceUnavailableError, AwsServiceError when the secret cannot be read.
 */
export async function isFrontDoor(secretArn: string, value: string | undefined): Promise<boolean> {
  if (value === undefined || value === '') {
    return false
  }
  return (
    isOneOf(await frontDoorValues(secretArn, 'cached'), value) ||
    isOneOf(await frontDoorValues(secretArn, 'rechecked'), value)
  )
}

/** The secrets of the front door, the current one first. @throws as {@link isFrontDoor}. */
export async function frontDoorValues(
  secretArn: string,
  freshness: 'cached' | 'rechecked' = 'cached',
): Promise<readonly string[]> {
  const { current, previous } = await readSecretEntries(secretArn, freshness)
  return [current ?? '', previous ?? ''].filter((value) => value !== '')
}

function isOneOf(values: readonly string[], value: string): boolean {
  return values.some((known) => isSameString(known, value))
}
