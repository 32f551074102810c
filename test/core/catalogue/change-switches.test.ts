import { describe, expect, it } from 'vitest'
import { changeSwitches, type SwitchChange } from '#core/catalogue/change-switches.ts'
import { NO_SWITCHES, type Switches } from '#core/catalogue/switches.ts'

const ANNA = { by: 'anna', at: 10 }
const BEN = { by: 'ben', at: 20 }

const channel = (action: 'disable' | 'enable' | 'clear', id = 'main'): SwitchChange => ({ kind: 'channel', id, action })
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

describe('changeSwitches: channels', () => {
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

describe('changeSwitches: models', () => {
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
