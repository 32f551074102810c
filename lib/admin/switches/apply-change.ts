import { changeSwitch } from '#adapters/store/switches/change-switch.ts'
import { type SwitchChange, type Switches, switchesOf } from '#core/catalogue/switches.ts'
import type { Answer } from '../command-line/answer.ts'
import type { AdminContext } from '../command-line/command.ts'
import { type ShownSetting, settingsText, shownSettings } from './switch-settings.ts'

/** When a change is seen everywhere; the age at which an instance reads the switches again. */
const SEEN = 'every instance sees it within 15 seconds'

/** What a change did. */
type Applied = { readonly answer: Answer; readonly after: Switches }

/**
 * Changes one switch in the name of the person who runs the command, and says what is set now.
 * @throws StoreRefusal `changed_meanwhile`, CommandFailedError without access to AWS.
 */
export async function applyChange(
  context: Pick<AdminContext, 'table' | 'actor'>,
  change: SwitchChange,
): Promise<Applied> {
  const [table, actor] = [await context.table(), await context.actor()]
  const { before, after } = await changeSwitch(table, change, { actor, at: Date.now() })
  const settings = settingsOf(after, change)
  const isChanged = after !== before
  const json = { kind: change.kind, id: change.id, changed: isChanged, settings }
  return { answer: { json, text: textOf(change, { settings, isChanged }) }, after }
}

/** What is set for the target of a change. */
export function settingsOf(
  { channels, models }: Switches,
  { kind, id }: Pick<SwitchChange, 'kind' | 'id'>,
): ShownSetting[] {
  return shownSettings(kind === 'channel' ? switchesOf(channels, id) : switchesOf(models, id))
}

function textOf(
  { kind, id }: SwitchChange,
  { settings, isChanged }: { readonly settings: readonly ShownSetting[]; readonly isChanged: boolean },
): string {
  const set = settingsText(settings) ?? 'as configured'
  return isChanged ? `${kind} ${id}: ${set}; ${SEEN}` : `${kind} ${id}: ${set}; nothing had to change`
}
