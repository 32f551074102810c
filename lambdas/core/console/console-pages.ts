/**
 * Pages of the console to which a sign-in at an OpenID provider can lead. A sign-in carries the index of its page and never a
 * url, so that nobody can make it lead anywhere else.
 */
export const CONSOLE_PAGES = [
  'overview',
  'usage',
  'videos',
  'playground',
  'keys',
  'tenants',
  'ledger',
  'channels',
  'audit',
  'webhooks',
] as const

/** The path of a page by its index; the first page for an index that is none. */
export function consolePath(index: number): string {
  const page = index === 0 ? undefined : CONSOLE_PAGES[index]
  return page === undefined ? '/console' : `/console/${page}`
}
