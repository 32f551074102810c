import { describe, expect, it } from '@jest/globals'
import { channelPriority, channelWeight } from '#core/catalogue/channel.ts'
import { NO_SWITCHES } from '#core/catalogue/switches.ts'
import { changeChannel } from '#lambdas/admin/channels.writes.ts'
import { settingsOf, unservedModels } from '#lambdas/admin/switches.ts'
import { PER_SECOND_MODEL, testCatalogue } from '../engines/test-catalogue.ts'

const OFF = { enabled: { value: false as const, by: 'ada', at: 1 } }
const { config } = testCatalogue()

describe('unservedModels', () => {
  it('names the models whose every channel is disabled, and is silent while one is left', () => {
    expect(unservedModels(config, NO_SWITCHES)).toBeUndefined()
    expect(unservedModels(config, { channels: { main: OFF }, models: {} })).toBeUndefined()
    expect(unservedModels(config, { channels: { main: OFF, spare: OFF }, models: {} })).toContain(PER_SECOND_MODEL)
  })
})

describe('the body of change-channel', () => {
  it('takes the weights and priorities that a configuration may have, and no others', () => {
    const body = changeChannel.body?.()
    for (const value of [0, 0.001, 0.5, 1, 1000, 1001, -1, 1e300]) {
      expect(body?.safeParse({ weight: value }).success).toBe(channelWeight.safeParse(value).success)
      expect(body?.safeParse({ priority: value }).success).toBe(channelPriority.safeParse(value).success)
    }
  })
})

describe('settingsOf', () => {
  const AT = { by: 'alice', at: 1_700_000_000 }

  it('shows each setting of the channel or the model with who made it, and since when', () => {
    const main = { priority: { value: 0, ...AT }, enabled: { value: false as const, ...AT } }
    const switches = { channels: { main }, models: {} }
    expect(settingsOf(switches, { kind: 'channel', id: 'main' })).toEqual([
      { setting: 'state', value: 'disabled', by: 'alice', since: '2023-11-14T22:13:20.000Z' },
      { setting: 'priority', value: 0, by: 'alice', since: '2023-11-14T22:13:20.000Z' },
    ])
    expect(settingsOf(switches, { kind: 'model', id: 'main' })).toEqual([])
  })
})
