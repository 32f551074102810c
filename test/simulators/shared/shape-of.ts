/** The structure of a JSON value: member names and types, without the values. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.slice(0, 1).map(shapeOf)
  }
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]))
  }
  return value === null ? 'null' : typeof value
}
