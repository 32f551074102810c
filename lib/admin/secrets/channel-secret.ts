import * as z from 'zod'

/** The channel secret: keys of upstreams by the names that `api_key` of a channel has. */
export type ChannelSecret = Readonly<Record<string, string>>

const channelSecret = z.record(z.string(), z.string())

/** The text of the channel secret; undefined for what is no JSON object of strings. Nothing of it is ever quoted. */
export function parseChannelSecret(text: string): ChannelSecret | undefined {
  try {
    return channelSecret.safeParse(JSON.parse(text)).data
  } catch {
    // An error of the parser would quote the secret.
    return undefined
  }
}
