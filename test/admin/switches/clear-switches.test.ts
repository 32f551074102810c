import { expect, it } from 'vitest'
import { channelClear, channelDisable } from '../../../lib/cli/admin/channels.ts'
import { modelClear } from '../../../lib/cli/admin/models.ts'
import { useSwitching } from './switching.ts'

const { run, switches } = useSwitching()

it('clear-switches: changes nothing for a target without switches, and leaves others alone', async () => {
  await run(channelDisable, 'spare')
  expect(await run(channelClear, 'main')).toMatchObject({ json: { changed: false, settings: [] } })
  expect(await run(modelClear, 'famA-2')).toMatchObject({ json: { changed: false, settings: [] } })
  expect(Object.keys((await switches()).channels)).toEqual(['spare'])
})
