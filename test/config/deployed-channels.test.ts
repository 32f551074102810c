import { describe, expect, it } from 'vitest'
import { leftOutSentence, requireChannels } from '../../lib/config/deployed-channels.ts'
import { loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import { SAMPLE_FILE } from './edited-config.ts'

const stage = { stage: 'live', profile: 'prod', configFile: 'config/gateway.yaml' } as const
const load = (environment: Record<string, string>) =>
  loadGatewayConfig({ file: SAMPLE_FILE, environment, mode: 'synth' })

describe('a stage with the profile prod', () => {
  it('is refused without any channel, in one sentence, and a stage to try things is not', () => {
    const { config } = load({})
    expect(() => requireChannels(stage, config)).toThrow(
      'the stage live has no channel: set the base urls of the upstreams that config/gateway.yaml names, such as P1_BASE_URL',
    )
    expect(() => requireChannels({ ...stage, profile: 'dev' }, config)).not.toThrow()
    expect(() => requireChannels(stage, load({ P1_BASE_URL: 'https://p1.example' }).config)).not.toThrow()
  })

  it('tells which channels a missing variable takes out of it', () => {
    const loaded = load({ P1_BASE_URL: 'https://p1.example', RELAY_BASE_URL: 'https://relay.example/v1' })
    expect(leftOutSentence(stage, loaded)).toBe(
      'The stage live gets the channels p1-main, openai-main, but not p2-direct, p2-proxy, because their base urls are not set. If the deployed stage has one of these, it loses it.',
    )
    expect(leftOutSentence({ ...stage, profile: 'dev' }, loaded)).toBeUndefined()
    expect(leftOutSentence(stage, { ...loaded, leftOut: [] })).toBeUndefined()
  })
})
