import type { Channel } from '#core/catalogue/channel.ts'
import { credentialName } from '#core/catalogue/credential-name.ts'
import { environmentVariable } from '../environment.ts'
import { readSecretEntry, rereadSecretEntry } from './secret-reader.ts'

/** What an upstream without a configured key is sent: simulators take any. */
const NO_KEY = 'none'

/**
 * The key of a channel: an entry of the channel secret where there is one (AWS), else an environment variable (local).
 * @throws MissingSecretError or MissingEnvironmentError when it is configured and not there.
 */
export async function channelCredential(channel: Channel): Promise<string> {
  const name = credentialName(channel)
  if (name === undefined) {
    return NO_KEY
  }
  const secretArn = process.env.CHANNEL_SECRET_ARN
  return secretArn === undefined ? environmentVariable(name) : await readSecretEntry(secretArn, name)
}

/** How long a refused request waits for the new key: within a region the answer comes in some milliseconds. */
const RENEWAL_MILLISECONDS_MAX = 3_000

/**
 * The key that has taken the place of one that the upstream refuses; undefined when there is none, or it cannot be read in
 * time. The secret is read anew for it, every few seconds at most. Never rejects.
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
