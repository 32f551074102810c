import { credentialName } from '#core/catalogue/catalogue.ts'
import type { Channel } from '#core/catalogue/channel.ts'
import { environmentVariable } from '../environment.ts'
import { readSecretEntry, rereadSecretEntry } from './secret-reader.ts'

/** The key for an upstream without a configured one. Simulators accept any. */
const NO_KEY = 'none'

/**
 * Reads the key of a channel: from the channel secret where there is one (AWS), or else from an environment variable (local).
 * @throws MissingSecretError or MissingEnvironmentError when the key is configured and missing.
 */
export async function channelCredential(channel: Channel): Promise<string> {
  const name = credentialName(channel)
  if (name === undefined) {
    return NO_KEY
  }
  const secretArn = process.env.CHANNEL_SECRET_ARN
  return secretArn === undefined ? environmentVariable(name) : await readSecretEntry(secretArn, name)
}

/** How long a refused request waits for the new key. Within a region a read takes some milliseconds. */
const RENEWAL_MILLISECONDS_MAX = 3_000

/**
 * Reads the key that has replaced a refused one; undefined when there is none, or it cannot be read in time. The secret is read
 * again for this, at most every few seconds. Never rejects.
 */
export async function renewedCredential(
  channel: Channel,
  refused: string,
  millisecondsMax = RENEWAL_MILLISECONDS_MAX,
): Promise<string | undefined> {
  const name = credentialName(channel)
  const secretArn = process.env.CHANNEL_SECRET_ARN
  if (name === undefined || secretArn === undefined) {
    return undefined
  }
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.min(millisecondsMax, RENEWAL_MILLISECONDS_MAX))
  })
  try {
    const key = await Promise.race([rereadSecretEntry(secretArn, name), tooLate])
    return key === refused ? undefined : key
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
