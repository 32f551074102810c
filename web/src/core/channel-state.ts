/** What decides the state of a channel. */
type ChannelFacts = { readonly disabled: boolean; readonly breaker: string | null }

/** The state of a channel in one word or two; a channel that somebody has disabled is that first. */
export function channelState({ disabled, breaker }: ChannelFacts): string {
  if (disabled) {
    return 'disabled'
  }
  return breaker === 'open' ? 'breaker open' : breaker === 'half_open' ? 'recovering' : 'enabled'
}
