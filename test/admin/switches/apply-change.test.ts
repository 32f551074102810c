import { expect, it } from 'vitest'
import { applyChange, settingsOf } from '../../../lib/cli/admin/switches.ts'
import { CommandFailedError } from '../../../lib/cli/failures.ts'
import { useSwitching } from './switching.ts'

const { table, switches } = useSwitching()

it('apply-change: changes nothing for a person who cannot be named', async () => {
  const context = { table: async () => table(), actor: () => Promise.reject(new CommandFailedError('no access')) }
  await expect(applyChange(context, { kind: 'channel', id: 'main', action: 'disable' })).rejects.toThrow('no access')
  expect(await switches()).toEqual({ channels: {}, models: {} })
})

it('apply-change: returns the switches after the change, with the settings of one target', async () => {
  const context = { table: async () => table(), actor: async () => ({ name: 'alice', role: 'operator' }) as const }
  const { after } = await applyChange(context, { kind: 'channel', id: 'main', action: 'weight', value: 3 })
  expect(after).toEqual(await switches())
  expect(settingsOf(after, { kind: 'channel', id: 'main' })).toMatchObject([
    { setting: 'weight', value: 3, by: 'alice' },
  ])
  expect(settingsOf(after, { kind: 'model', id: 'main' })).toEqual([])
})
