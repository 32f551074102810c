import { describe, expect, it } from 'vitest'
import { channelPriority, channelSchema, channelWeight } from '#core/catalogue/channel.ts'

describe('channel', () => {
  it.each([
    [channelWeight, [0.001, 1, 1000], [0, -1, 1000.1, Number.NaN]],
    [channelPriority, [0, 1000], [-1, 0.5, 1001]],
  ])('has bounds of weight and priority (%#)', (schema, allowed, refused) => {
    expect(allowed.every((value) => schema.safeParse(value).success)).toBe(true)
    expect(refused.some((value) => schema.safeParse(value).success)).toBe(false)
  })

  it('has weight 1 and priority 0 unless the configuration says otherwise', () => {
    const channel = { id: 'chat', provider: 'openai', base_url: 'http://127.0.0.1:9', models: {} }
    expect(channelSchema.parse(channel)).toMatchObject({ weight: 1, priority: 0 })
  })
})
