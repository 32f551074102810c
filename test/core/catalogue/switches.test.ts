import { describe, expect, it } from 'vitest'
import { applySwitches, NO_SWITCHES, type Switches, switchesOf } from '#core/catalogue/switches.ts'
import { shippedConfig } from '../shipped-catalogue.ts'

const [channel, otherChannel] = shippedConfig.channels
const [model, otherModel] = shippedConfig.models
if (channel === undefined || otherChannel === undefined || model === undefined || otherModel === undefined) {
  throw new TypeError('the shipped configuration has two channels and two models')
}

const set = <Value>(value: Value) => ({ value, by: 'operator', at: 1 })
const rest = { channels: shippedConfig.channels.slice(1), models: shippedConfig.models.slice(1) }

describe('applySwitches', () => {
  it('changes nothing without switches', () => {
    expect(applySwitches(shippedConfig, NO_SWITCHES)).toEqual(shippedConfig)
  })

  it('leaves out a disabled channel', () => {
    const switches: Switches = { channels: { [channel.id]: { enabled: set(false) } }, models: {} }
    expect(applySwitches(shippedConfig, switches).channels).toEqual(rest.channels)
  })

  it('replaces weight and priority of one channel, and nothing else', () => {
    const switches: Switches = { channels: { [channel.id]: { weight: set(0.25), priority: set(0) } }, models: {} }
    const switched = applySwitches(shippedConfig, switches)
    expect(switched).toEqual({
      ...shippedConfig,
      channels: [{ ...channel, weight: 0.25, priority: 0 }, ...rest.channels],
    })
  })

  it.each([true, false])('makes a model enabled %j, whatever the configuration says', (enabled) => {
    const config = { ...shippedConfig, models: [{ ...model, enabled: !enabled }, ...rest.models] }
    const switches: Switches = { channels: {}, models: { [model.id]: { enabled: set(enabled) } } }
    expect(applySwitches(config, switches).models).toEqual([{ ...model, enabled }, ...rest.models])
  })

  it('ignores switches of ids that the configuration does not have', () => {
    const switches: Switches = {
      channels: { gone: { enabled: set(false) } },
      models: { gone: { enabled: set(false) } },
    }
    expect(applySwitches(shippedConfig, switches)).toEqual(shippedConfig)
  })
})

describe('switchesOf', () => {
  it('finds nothing for a name that every object has', () => {
    expect(switchesOf({}, 'constructor')).toBeUndefined()
    expect(switchesOf({ constructor: { weight: set(1) } }, 'constructor')).toEqual({ weight: set(1) })
  })
})
