import type { Setting } from '#core/catalogue/switches.ts'

/** Who set the latest of some switches, and when in Unix seconds; nulls where the configuration decides. */
export function latestSwitch(set: Readonly<Record<string, Setting<unknown> | undefined>> | undefined) {
  const settings = Object.values(set ?? {}).flatMap((setting) => setting ?? [])
  const latest = settings.toSorted((left, right) => right.at - left.at)[0]
  return { switched_by: latest?.by ?? null, switched_at: latest === undefined ? null : Math.trunc(latest.at) }
}
