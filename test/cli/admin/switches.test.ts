import { describe, expect, it } from '@jest/globals'
import { channelClear, channelDisable, modelClear, settingsText } from '../../../lib/cli/admin/channels.ts'
import { useSwitching } from './switching.ts'

describe('clear switches', () => {
  const { run, switches } = useSwitching()

  it('clear-switches: changes nothing for a target without switches, and leaves others alone', async () => {
    await run(channelDisable, 'spare')
    expect(await run(channelClear, 'main')).toMatchObject({ json: { changed: false, settings: [] } })
    expect(await run(modelClear, 'famA-2')).toMatchObject({ json: { changed: false, settings: [] } })
    expect(Object.keys((await switches()).channels)).toEqual(['spare'])
  })
})

describe('settingsText', () => {
  it('shows settings in one cell, and nothing without settings', () => {
    const since = '2023-11-14T22:13:20.000Z'
    const settings = [
      { setting: 'state' as const, value: 'disabled', by: 'alice', since },
      { setting: 'priority' as const, value: 0, by: 'bob', since },
    ]
    expect(settingsText(settings)).toBe(`disabled by alice since ${since}, priority 0 by bob since ${since}`)
    expect(settingsText([])).toBeNull()
  })
})
