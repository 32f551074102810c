import { describe, expect, it } from '@jest/globals'
import {
  applySwitches,
  changeSwitches,
  NO_SWITCHES,
  type SwitchChange,
  type Switches,
  switchesOf,
} from '#core/catalogue/switches.ts'
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

describe('changeSwitches', () => {
  const ANNA = { by: 'anna', at: 10 }
  const BEN = { by: 'ben', at: 20 }

  const channel = (action: 'disable' | 'enable' | 'clear', id = 'main'): SwitchChange => ({
    kind: 'channel',
    id,
    action,
  })
  const channelValue = (action: 'weight' | 'priority', value: number): SwitchChange => ({
    kind: 'channel',
    id: 'main',
    action,
    value,
  })
  const model = (action: 'disable' | 'clear'): SwitchChange => ({ kind: 'model', id: 'chat', action })
  const enableModel = (isEnabledByConfiguration: boolean): SwitchChange => ({
    kind: 'model',
    id: 'chat',
    action: 'enable',
    isEnabledByConfiguration,
  })

  /** The switches after several changes, the first by Anna and the others by Ben. */
  function switchesAfter(...changes: SwitchChange[]): Switches {
    return changes.reduce(
      (switches, change, index) => changeSwitches(switches, change, index === 0 ? ANNA : BEN),
      NO_SWITCHES,
    )
  }

  describe('of channels', () => {
    it('keeps who set each value, and when', () => {
      expect(switchesAfter(channel('disable'), channelValue('weight', 3), channelValue('priority', 0))).toEqual({
        channels: {
          main: {
            enabled: { value: false, ...ANNA },
            weight: { value: 3, ...BEN },
            priority: { value: 0, ...BEN },
          },
        },
        models: {},
      })
    })

    it('ends a disablement alone with enable', () => {
      expect(switchesAfter(channelValue('weight', 3), channel('disable'), channel('enable')).channels).toEqual({
        main: { weight: { value: 3, ...ANNA } },
      })
    })

    it('leaves nothing behind after enable or clear', () => {
      expect(switchesAfter(channel('disable'), channel('enable'))).toEqual(NO_SWITCHES)
      expect(switchesAfter(channel('disable'), channelValue('priority', 2), channel('clear'))).toEqual(NO_SWITCHES)
    })

    it('leaves other ids alone', () => {
      const both = switchesAfter(channel('disable', 'main'), channel('disable', 'spare'), channel('clear', 'main'))
      expect(both.channels).toEqual({ spare: { enabled: { value: false, ...BEN } } })
    })

    it.each([
      [[channel('disable')], channel('disable')],
      [[channelValue('weight', 3)], channelValue('weight', 3)],
      [[channelValue('priority', 3)], channelValue('priority', 3)],
      [[], channel('enable')],
      [[], channel('clear')],
    ])('returns the same object for a repetition (%#)', (before, change) => {
      const switches = switchesAfter(...before)
      expect(changeSwitches(switches, change, BEN)).toBe(switches)
    })
  })

  describe('of models', () => {
    it('disables, and clears', () => {
      expect(switchesAfter(model('disable')).models).toEqual({ chat: { enabled: { value: false, ...ANNA } } })
      expect(switchesAfter(model('disable'), model('clear'))).toEqual(NO_SWITCHES)
    })

    it('leaves nothing behind after enable where the configuration enables the model', () => {
      expect(switchesAfter(model('disable'), enableModel(true))).toEqual(NO_SWITCHES)
    })

    it('keeps enable where the configuration disables the model', () => {
      expect(switchesAfter(enableModel(false)).models).toEqual({ chat: { enabled: { value: true, ...ANNA } } })
      expect(switchesAfter(enableModel(false), model('disable')).models).toEqual({
        chat: { enabled: { value: false, ...BEN } },
      })
    })

    it.each([
      [[model('disable')], model('disable')],
      [[enableModel(false)], enableModel(false)],
      [[], enableModel(true)],
      [[], model('clear')],
    ])('returns the same object for a repetition (%#)', (before, change) => {
      const switches = switchesAfter(...before)
      expect(changeSwitches(switches, change, BEN)).toBe(switches)
    })
  })
})
