/** The role of a session; each may see what the one before it sees, and more. */
export type Role = 'tenant' | 'viewer' | 'owner'

const ROLES: readonly Role[] = ['tenant', 'viewer', 'owner']

/** Whether a role reaches at least another one. */
export function reaches(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least)
}

/** An entry of the navigation. */
export type ConsolePage = {
  readonly path: string
  readonly title: string
  readonly group: 'Monitor' | 'Build' | 'Manage'
  /** Typed after `g`. */
  readonly letter: string
  /** The least role that sees the page. The server decides; this hides links that it would refuse. */
  readonly access: Role
  /** Whether the page shows one tenant if its url names one. */
  readonly isScoped: boolean
}

/** Every page of the navigation, in its order. */
export const CONSOLE_PAGES: readonly ConsolePage[] = [
  page('', 'Overview', 'Monitor', { letter: 'o', isScoped: true }),
  page('/usage', 'Usage', 'Monitor', { letter: 'u', isScoped: true }),
  page('/videos', 'Videos', 'Monitor', { letter: 'v', isScoped: true }),
  page('/ledger', 'Ledger', 'Monitor', { letter: 'l', isScoped: true }),
  page('/playground', 'Playground', 'Build', { letter: 'p', isScoped: true }),
  page('/webhooks', 'Webhooks', 'Build', { letter: 'w', isScoped: true }),
  page('/keys', 'Keys', 'Manage', { letter: 'k', isScoped: true, access: 'viewer' }),
  page('/tenants', 'Tenants', 'Manage', { letter: 't', access: 'viewer' }),
  page('/channels', 'Channels', 'Manage', { letter: 'c', access: 'viewer' }),
  page('/audit', 'Audit', 'Manage', { letter: 'a', access: 'viewer' }),
  page('/sessions', 'Sessions', 'Manage', { letter: 's' }),
]

function page(
  path: string,
  title: string,
  group: ConsolePage['group'],
  more: { readonly letter: string; readonly isScoped?: boolean; readonly access?: Role },
): ConsolePage {
  return { access: 'tenant', isScoped: false, ...more, path: `/console${path}`, title, group }
}

/** The pages that a role sees. */
export function pagesOf(role: Role): readonly ConsolePage[] {
  return CONSOLE_PAGES.filter(({ access }) => reaches(role, access))
}
