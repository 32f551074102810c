import type { Setting } from '#core/catalogue/switches.ts'

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
