import { describe, expect, it } from 'vitest'
import { readSwitches } from '#adapters/store/switches/read-switches.ts'
import { NO_SWITCHES } from '#core/catalogue/switches.ts'

const tableWith = (item: Record<string, unknown> | undefined) => ({ readItem: async () => item })
const set = <Value>(value: Value) => ({ value, by: 'operator', at: 1 })

describe('read-switches', () => {
  it('finds none in version 0 where nobody has set one', async () => {
    expect(await readSwitches(tableWith(undefined))).toEqual({ switches: NO_SWITCHES, version: 0 })
  })

  it('ignores fields that a later version may add', async () => {
    const channels = { main: { weight: { ...set(2), why: 'later' }, colour: set('red') } }
    const item = { PK: 'SWITCHES', SK: '0', version: 3, channels, models: {}, regions: {} }
    expect(await readSwitches(tableWith(item))).toEqual({
      switches: { channels: { main: { weight: set(2) } }, models: {} },
      version: 3,
    })
  })

  it('rejects an item that this service did not write', async () => {
    await expect(readSwitches(tableWith({ version: 1, channels: { main: { weight: 'much' } } }))).rejects.toThrow()
  })
})
