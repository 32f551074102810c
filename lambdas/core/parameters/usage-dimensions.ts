/** What usage can be grouped by. `key` is the public id of an API key. */
export const USAGE_DIMENSIONS = ['day', 'model', 'key', 'operation'] as const

/** One of {@link USAGE_DIMENSIONS}. */
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number]

/** Reads dimensions that are separated by commas, in any order; undefined if one is unknown or repeated, or there is none. */
export function readDimensions(text: string): readonly UsageDimension[] | undefined {
  const names = text.split(',')
  const dimensions = names.flatMap((name) => USAGE_DIMENSIONS.filter((dimension) => dimension === name))
  const isValid = dimensions.length === names.length && new Set(dimensions).size === names.length
  return isValid ? dimensions : undefined
}
