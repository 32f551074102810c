import { expect, it } from 'vitest'
import { settingsText, shownSettings } from '../../../lib/cli/admin/switches.ts'

const AT = { by: 'alice', at: 1_700_000_000 }

it('switch-settings: shows each setting with who made it, and since when', () => {
  const settings = shownSettings({ priority: { value: 0, ...AT }, enabled: { value: false, ...AT } })
  expect(settings).toEqual([
    { setting: 'state', value: 'disabled', by: 'alice', since: '2023-11-14T22:13:20.000Z' },
    { setting: 'priority', value: 0, by: 'alice', since: '2023-11-14T22:13:20.000Z' },
  ])
  expect(settingsText(settings)).toBe(
    'disabled by alice since 2023-11-14T22:13:20.000Z, priority 0 by alice since 2023-11-14T22:13:20.000Z',
  )
})

it('switch-settings: is empty without settings', () => {
  expect([shownSettings(), settingsText([])]).toEqual([[], null])
})
