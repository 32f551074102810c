import { describe, expect, it } from 'vitest'
import { channelSchema } from '#core/catalogue/channel.ts'
import { gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'

const CHAT = { id: 'm', kind: 'chat', billing: 'per_request', context_tokens: 9, prices: [{ price: '1' }] }

function problems(model: object): string[] {
  const { error } = gatewayConfigSchema.safeParse({ channels: [], models: [{ ...CHAT, ...model }] })
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`)
}

describe('the default limit of a chat model', () => {
  it('is none unless it is written, and at most what the model makes', () => {
    expect(problems({ max_output_tokens: 5 })).toStrictEqual([])
    expect(problems({ max_output_tokens: 5, default_max_output_tokens: 5 })).toStrictEqual([])
    expect(problems({ max_output_tokens: 5, default_max_output_tokens: 6 })).toStrictEqual([
      'models.0.default_max_output_tokens: above max_output_tokens; allowed: 1 to 5',
    ])
    expect(problems({ max_output_tokens: 5, default_max_output_tokens: 0 })).toHaveLength(1)
  })
})

describe('the name of the output limit on a channel', () => {
  const channel = { id: 'relay-1', provider: 'openai', base_url: 'https://upstream.example/v1', models: {} }

  it('is max_tokens or max_completion_tokens', () => {
    for (const name of ['max_tokens', 'max_completion_tokens']) {
      expect(channelSchema.parse({ ...channel, output_limit_member: name })).toHaveProperty('output_limit_member', name)
    }
    expect(channelSchema.parse(channel)).not.toHaveProperty('output_limit_member')
    expect(channelSchema.safeParse({ ...channel, output_limit_member: 'maxTokens' }).success).toBe(false)
  })
})
