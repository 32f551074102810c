import type { TimeZone } from '../core/time.ts'
import { createStore } from './store.ts'

/** What a person chooses for all pages; kept in this browser. */
export type Settings = {
  readonly theme: 'system' | 'light' | 'dark'
  readonly zone: TimeZone
  /** Single-letter shortcuts can be switched off (WCAG 2.1.4). */
  readonly hasHotkeys: boolean
  /** The tenant that was looked at last; empty for none. */
  readonly tenant: string
}

const KEY = 'reelgate.settings'

/** The settings of this browser. */
export const settings = createStore<Settings>(readSettings())

function readSettings(): Settings {
  const kept = parse(localStorage.getItem(KEY))
  return {
    theme: kept.theme === 'light' || kept.theme === 'dark' ? kept.theme : 'system',
    zone: kept.zone === 'local' ? 'local' : 'utc',
    hasHotkeys: kept.hasHotkeys !== false,
    tenant: typeof kept.tenant === 'string' ? kept.tenant : '',
  }
}

function parse(text: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '{}')
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** Changes some settings and keeps them. */
export function changeSettings(changes: Partial<Settings>): void {
  settings.set({ ...settings.get(), ...changes })
  localStorage.setItem(KEY, JSON.stringify(settings.get()))
  applyTheme()
}

/** Sets the theme on the page; `system` leaves it to the browser. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = settings.get().theme
}
