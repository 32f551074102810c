/** Longer than any page with its filters. */
const CHARACTERS_MAX = 1_000

/** A path of the console with its query: unreserved and percent-encoded characters, no empty segment, no fragment. */
const TARGET = /^\/console(?:\/[\w.~%:@+-]+)*(?:\?[\w.~%!$()*,;:@/?&=+-]*)?$/

/**
 * Whether a string names a page of the console, as a sign-in may come back to it: a path below `/console` with a query, and nothing that
 * a browser reads as another path or another origin.
 */
export function isConsoleTarget(target: string): boolean {
  if (target.length > CHARACTERS_MAX || !TARGET.test(target) || !URL.canParse(target, BASE)) {
    return false
  }
  const { origin, pathname, search } = new URL(target, BASE)
  return origin === BASE && target === `${pathname}${search}`
}

/** Any origin: a target has none. */
const BASE = 'https://console.invalid'
