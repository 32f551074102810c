/** What decides the state of a channel. */
type ChannelFacts = {
  readonly disabled: boolean
  readonly breaker: string | null
  readonly breaker_openings: number | null
}

/**
 * The state of a channel in a few words; a channel that somebody has disabled is that first. On AWS every instance has a breaker of its
 * own, so that it is only known that some have opened lately.
 */
export function channelState({ disabled, breaker, breaker_openings }: ChannelFacts): string {
  if (disabled) {
    return 'disabled'
  }
  if (breaker === null && breaker_openings !== null && breaker_openings > 0) {
    return 'breakers opened'
  }
  return breaker === 'open' ? 'breaker open' : breaker === 'half_open' ? 'recovering' : 'enabled'
}
