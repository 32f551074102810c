/** One field that a change has touched. */
export type FieldChange = { readonly field: string; readonly before: string; readonly after: string }

type Facts = Readonly<Record<string, unknown>> | null

/** The fields that differ between two states of a thing, as short strings; a missing state is written as an empty one. */
export function changedFields(before: Facts, after: Facts): FieldChange[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...names]
    .map((field) => ({ field, before: shortValue(before?.[field]), after: shortValue(after?.[field]) }))
    .filter((change) => change.before !== change.after)
}

/** Longer values are cut; the details show them whole. */
const CHARACTERS_MAX = 60

function shortValue(value: unknown): string {
  if (value === undefined) {
    return ''
  }
  if (value === null) {
    return 'not set'
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)}…` : text
}
