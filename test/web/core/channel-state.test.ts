import { describe, expect, it } from 'vitest'
import { channelState } from '#web/core/channel-state.ts'

describe('channelState', () => {
  it.each([
    [true, 'open', null, 'disabled'],
    [false, 'open', null, 'breaker open'],
    [false, 'half_open', null, 'recovering'],
    [false, 'closed', null, 'enabled'],
    [false, null, null, 'enabled'],
    [false, null, 0, 'enabled'],
    [false, null, 3, 'breakers opened'],
    [true, null, 3, 'disabled'],
  ])('disabled %p with a breaker %p and %p openings is "%s"', (disabled, breaker, breaker_openings, state) => {
    expect(channelState({ disabled, breaker, breaker_openings })).toBe(state)
  })
})
