import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { type Setting, type SwitchChange, type Switches, switchesOf } from '#core/catalogue/switches.ts'
import { changeSwitch, readSwitches } from '#store/switches.ts'
import { CommandFailedError } from '../failures.ts'
import type { Output } from '../output.ts'
import { nearestName } from '../terminal.ts'
import { readDeployedConfig } from './catalogue.ts'
import type { AdminContext } from './command.ts'

/** One setting as it is shown: what, who, since when. */
export type ShownSetting = {
  readonly setting: 'state' | 'weight' | 'priority'
  readonly value: string | number
  readonly by: string
  /** ISO 8601. */
  readonly since: string
}

/** What is set for a channel or for a model. */
type Settings = {
  readonly enabled?: Setting<boolean> | undefined
  readonly weight?: Setting<number> | undefined
  readonly priority?: Setting<number> | undefined
}

/** The settings of a channel or of a model, in a fixed order. */
export function shownSettings({ enabled, weight, priority }: Settings = {}): ShownSetting[] {
  const stated = enabled && { ...enabled, value: enabled.value ? 'enabled' : 'disabled' }
  const all = { state: stated, weight, priority }
  return (['state', 'weight', 'priority'] as const).flatMap((setting) => {
    const set = all[setting]
    return set === undefined
      ? []
      : [{ setting, value: set.value, by: set.by, since: new Date(set.at * 1000).toISOString() }]
  })
}

/** The settings in one cell, such as `disabled by alice since 2026-11-22T10:00:00.000Z`; null without settings. */
export function settingsText(settings: readonly ShownSetting[]): string | null {
  const texts = settings.map(({ setting, value, by, since }) => {
    const what = setting === 'state' ? value : `${setting} ${value}`
    return `${what} by ${by} since ${since}`
  })
  return texts.length === 0 ? null : texts.join(', ')
}

/** When a change is seen everywhere; the age at which an instance reads the switches again. */
const SEEN = 'every instance sees it within 15 seconds'

/** What a change did. */
type Applied = { readonly output: Output; readonly after: Switches }

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
  return { output: { json, text: textOf(change, { settings, isChanged }) }, after }
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

type Kind = SwitchChange['kind']

/** The ids that the configuration has. */
function configuredIds(config: GatewayConfig, kind: Kind): readonly string[] {
  return (kind === 'channel' ? config.channels : config.models).map(({ id }) => id)
}

/** @throws CommandFailedError, with the id that was probably meant, for an id that the configuration does not have. */
export function requireConfigured(
  config: GatewayConfig,
  { kind, id }: { readonly kind: Kind; readonly id: string },
): void {
  const ids = configuredIds(config, kind)
  if (ids.includes(id)) {
    return
  }
  const nearest = nearestName(id, ids)
  const advice = nearest === undefined ? `\`${kind} list\` shows the ${kind}s that it has` : `did you mean ${nearest}?`
  throw new CommandFailedError(`the deployed configuration has no ${kind} ${id}; ${advice}`)
}

/**
 * Ends every switch of a channel or model. One that left the configuration keeps its switches, so these can be cleared too.
 * @throws CommandFailedError for an id without switches that the configuration does not have.
 */
export async function clearSwitches(context: AdminContext, target: Pick<SwitchChange, 'kind' | 'id'>): Promise<Output> {
  const { switches } = await readSwitches(await context.table())
  if (settingsOf(switches, target).length === 0) {
    requireConfigured(await readDeployedConfig(context), target)
  }
  return (await applyChange(context, { ...target, action: 'clear' })).output
}
