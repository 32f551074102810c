import { readSwitches } from '#adapters/store/switches/read-switches.ts'
import type { SwitchChange } from '#core/catalogue/switches.ts'
import { readDeployedConfig } from '../catalogue/deployed-config.ts'
import type { Answer } from '../command-line/answer.ts'
import type { AdminContext } from '../command-line/command.ts'
import { applyChange, settingsOf } from './apply-change.ts'
import { requireConfigured } from './configured-target.ts'

/**
 * Ends every switch of a channel or model. One that left the configuration keeps its switches, so these can be cleared too.
 * @throws CommandFailedError for an id without switches that the configuration does not have.
 */
export async function clearSwitches(context: AdminContext, target: Pick<SwitchChange, 'kind' | 'id'>): Promise<Answer> {
  const { switches } = await readSwitches(await context.table())
  if (settingsOf(switches, target).length === 0) {
    requireConfigured(await readDeployedConfig(context), target)
  }
  return (await applyChange(context, { ...target, action: 'clear' })).answer
}
