import type { AuditEntry } from '#adapters/store/audit/read-audit.ts'

/**
 * The change of an entry in one line: `state active -> suspended, reason fraud`. Fields that are the same before and after are left out; a
 * null in both is no field.
 */
export function describeChange({ kind, before, after }: Pick<AuditEntry, 'kind' | 'before' | 'after'>): string {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...names]
    .flatMap((name) => {
      const [old, current] = [before?.[name], after?.[name]].map((value) => show(value, wordForNull(kind, name)))
      if (old === current) {
        return []
      }
      return [before?.[name] === undefined ? `${name} ${current}` : `${name} ${old} -> ${current}`]
    })
    .join(', ')
}

/** Null models are all models, and a switch that is not set leaves the decision to the configuration. */
function wordForNull(kind: string, name: string): string {
  if (name === 'models') {
    return 'all'
  }
  return kind === 'channel' || kind === 'model' ? 'as configured' : 'none'
}

function show(value: unknown, wordForNothing: string): string {
  if (value === undefined) {
    return 'none'
  }
  if (value === null) {
    return wordForNothing
  }
  return Array.isArray(value) ? value.join('+') : String(value)
}
