import type { Channel } from '#core/catalogue/channel.ts'
import { credentialName } from '#core/catalogue/credential-name.ts'
import { environmentVariable } from '../environment.ts'
import { readSecretEntry } from './secret-reader.ts'

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
