import { describe, expect, it } from 'vitest'
import { channelPriority, channelWeight } from '#core/catalogue/channel.ts'
import { changeChannelRequest } from '#core/console/switch-request.ts'

describe('switch-request', () => {
  it('takes the weights and priorities that a configuration may have, and no others', () => {
    for (const value of [0, 0.001, 0.5, 1, 1000, 1001, -1, 1e300]) {
      expect(changeChannelRequest.safeParse({ weight: value }).success).toBe(channelWeight.safeParse(value).success)
      expect(changeChannelRequest.safeParse({ priority: value }).success).toBe(channelPriority.safeParse(value).success)
    }
  })
})
