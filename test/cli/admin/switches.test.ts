import { describe, expect, it } from '@jest/globals'
import { channelClear, channelDisable } from '../../../lib/cli/admin/channels.ts'
import { modelClear } from '../../../lib/cli/admin/models.ts'
import {
  applyChange,
  requireConfigured,
  settingsOf,
  settingsText,
  shownSettings,
} from '../../../lib/cli/admin/switches.ts'
import { CommandFailedError } from '../../../lib/cli/failures.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { useSwitching } from './switching.ts'

describe('apply change', () => {
  const { table, switches } = useSwitching()

  it('applyChange changes nothing for a person who cannot be named', async () => {
    const context = { table: async () => table(), actor: () => Promise.reject(new CommandFailedError('no access')) }
    await expect(applyChange(context, { kind: 'channel', id: 'main', action: 'disable' })).rejects.toThrow('no access')
    expect(await switches()).toEqual({ channels: {}, models: {} })
  })

  it('applyChange returns the switches after the change, with the settings of one target', async () => {
    const context = { table: async () => table(), actor: async () => ({ name: 'alice', role: 'operator' }) as const }
    const { after } = await applyChange(context, { kind: 'channel', id: 'main', action: 'weight', value: 3 })
    expect(after).toEqual(await switches())
    expect(settingsOf(after, { kind: 'channel', id: 'main' })).toMatchObject([
      { setting: 'weight', value: 3, by: 'alice' },
    ])
    expect(settingsOf(after, { kind: 'model', id: 'main' })).toEqual([])
  })
})

describe('clear switches', () => {
  const { run, switches } = useSwitching()

  it('clear-switches: changes nothing for a target without switches, and leaves others alone', async () => {
    await run(channelDisable, 'spare')
    expect(await run(channelClear, 'main')).toMatchObject({ json: { changed: false, settings: [] } })
    expect(await run(modelClear, 'famA-2')).toMatchObject({ json: { changed: false, settings: [] } })
    expect(Object.keys((await switches()).channels)).toEqual(['spare'])
  })
})

describe('configured target', () => {
  const { config } = testCatalogue()

  it.each([
    ['channel', 'main'],
    ['model', 'famA-2'],
  ] as const)('configured-target: accepts the %s %s, and not as the other kind', (kind, id) => {
    expect(() => requireConfigured(config, { kind, id })).not.toThrow()
    expect(() => requireConfigured(config, { kind: kind === 'model' ? 'channel' : 'model', id })).toThrow(
      'the deployed configuration has no',
    )
  })
})

describe('switch settings', () => {
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
})
