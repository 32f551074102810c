import * as z from 'zod'

/** The channel secret: upstream keys by the names in `api_key` of the channels. */
export type ChannelSecret = Readonly<Record<string, string>>

const channelSecret = z.record(z.string(), z.string())

/** Parses the channel secret; undefined if it is not a JSON object of strings. Errors never quote it. */
export function parseChannelSecret(text: string): ChannelSecret | undefined {
  try {
    return channelSecret.safeParse(JSON.parse(text)).data
  } catch {
    // The parser's error would quote the secret.
    return undefined
  }
}
