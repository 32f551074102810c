type Fields = Readonly<Record<string, unknown>> | null

/**
 * A change in one line: `state active -> suspended, reason fraud`. Fields that are the same before and after are left out; a null in both
 * is no field.
 */
export function describeChange(before: Fields, after: Fields): string {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...names].flatMap((name) => describeField(name, before?.[name], after?.[name])).join(', ')
}

function describeField(name: string, before: unknown, after: unknown): string[] {
  const [old, current] = [show(before), show(after)]
  if (old === current) {
    return []
  }
  if (before === undefined) {
    return [`${name} ${current}`]
  }
  return [`${name} ${old} -> ${current}`]
}

function show(value: unknown): string {
  if (value === undefined || value === null) {
    return 'none'
  }
  return Array.isArray(value) ? value.join('+') : String(value)
}
