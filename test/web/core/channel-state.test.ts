import { describe, expect, it } from '@jest/globals'
import { channelState } from '#web/core/channel-state.ts'

describe('channelState', () => {
  it.each([
    [true, 'open', 'disabled'],
    [false, 'open', 'breaker open'],
    [false, 'half_open', 'recovering'],
    [false, 'closed', 'enabled'],
    [false, null, 'enabled'],
  ])('disabled %p with a breaker %p is "%s"', (disabled, breaker, state) => {
    expect(channelState({ disabled, breaker })).toBe(state)
  })
})
