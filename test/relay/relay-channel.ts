import { channelSchema, type RelayChannel } from '#core/catalogue/channel.ts'

/** Members of a channel as a configuration writes them. */
export type ChannelInput = {
  readonly base_url?: string
  readonly priority?: number
  readonly weight?: number
  readonly timeouts?: Partial<RelayChannel['timeouts']>
  readonly breaker?: Partial<RelayChannel['breaker']>
  readonly auth?: RelayChannel['auth']
}

/** A channel that serves the model `chat` as `upstream-chat`, with what the schema fills in. */
export function relayChannel(id: string, members: ChannelInput = {}): RelayChannel {
  const channel = channelSchema.parse({
    id,
    provider: 'openai',
    base_url: 'http://127.0.0.1:9/v1',
    models: { chat: 'upstream-chat' },
    ...members,
  })
  if (channel.provider !== 'openai') {
    throw new TypeError('a relay channel is of the provider openai')
  }
  return channel
}
