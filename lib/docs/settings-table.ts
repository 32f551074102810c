import { type ContextKey, contextSchema } from '../config/context-settings.ts'
import { PROFILE_DEFAULTS } from '../config/stage-settings.ts'
import { code, markdownTable } from './markdown-table.ts'

const KEYS = Object.keys(contextSchema.shape).map((key) => contextSchema.keyof().parse(key))

/** Every context setting with its defaults and its description, as a Markdown table. */
export function settingsTable(): string {
  const rows = KEYS.map((key) => {
    const { description = '' } = contextSchema.shape[key].meta() ?? {}
    return [code(key), defaultOf(key, 'dev'), defaultOf(key, 'prod'), description]
  })
  return markdownTable(['Setting', 'Default in dev', 'Default in prod', 'Meaning'], rows)
}

/** Stage and profile select the column and have no default in one. */
function defaultOf(key: ContextKey, profile: keyof typeof PROFILE_DEFAULTS): string {
  if (key === 'stage' || key === 'profile') {
    return ''
  }
  const defaults: Partial<Record<ContextKey, unknown>> = PROFILE_DEFAULTS[profile]
  const value = defaults[key] ?? contextSchema.shape[key].safeParse(undefined).data
  if (value === undefined) {
    return 'none'
  }
  return typeof value === 'number' ? value.toLocaleString('en') : code(String(value))
}
