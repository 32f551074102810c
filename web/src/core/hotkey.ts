/** What a key means, given the key before it; null means nothing. */
export type Hotkey =
  | { readonly kind: 'page'; readonly letter: string }
  | { readonly kind: 'filter' | 'next' | 'previous' | 'open' | 'help' }
  | { readonly kind: 'prefix' }
  | null

/** The parts of a keyboard event and of its target that decide. */
export type KeyFacts = {
  readonly key: string
  readonly hasModifier: boolean
  /** The lower-case name of the element that has the focus. */
  readonly element: string
  readonly isEditable: boolean
}

/** Keys typed here are text or choose an option. */
const TYPING = new Set(['input', 'textarea', 'select'])

const SINGLE: Readonly<Record<string, Hotkey>> = {
  '/': { kind: 'filter' },
  j: { kind: 'next' },
  k: { kind: 'previous' },
  o: { kind: 'open' },
  '?': { kind: 'help' },
  g: { kind: 'prefix' },
}

/** Reads a key press. A modifier, or a field that takes text, makes it no shortcut. */
export function readHotkey({ key, hasModifier, element, isEditable }: KeyFacts, isAfterPrefix: boolean): Hotkey {
  if (hasModifier || isEditable || TYPING.has(element)) {
    return null
  }
  if (isAfterPrefix) {
    return /^[a-z]$/.test(key) ? { kind: 'page', letter: key } : null
  }
  // A row has the focus after `j` and `k`; elsewhere Enter belongs to links and buttons.
  return key === 'Enter' && element === 'tr' ? { kind: 'open' } : (SINGLE[key] ?? null)
}
