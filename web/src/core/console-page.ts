/** The role of a session; each may see what the one before it sees, and more. */
export type Role = 'tenant' | 'viewer' | 'owner'

const ROLES: readonly Role[] = ['tenant', 'viewer', 'owner']

/** Whether a role reaches at least another one. */
export function reaches(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least)
}

/** An entry of the navigation. */
export type ConsolePage = {
  /** The last part of its path. */
  readonly name: string
  readonly title: string
  readonly group: 'Monitor' | 'Build' | 'Manage'
  /** Typed after `g`. */
  readonly letter: string
  /** The least role that sees the page. The server decides; this hides links that it would refuse. */
  readonly access: Role
  /** Whether the page shows one tenant if its url names one. */
  readonly isScoped: boolean
}

/** Every page of the navigation, in its order. Routes and icons follow it. */
export const CONSOLE_PAGES = [
  { name: 'overview', title: 'Overview', group: 'Monitor', letter: 'o', access: 'tenant', isScoped: true },
  { name: 'usage', title: 'Usage', group: 'Monitor', letter: 'u', access: 'tenant', isScoped: true },
  { name: 'videos', title: 'Videos', group: 'Monitor', letter: 'v', access: 'tenant', isScoped: true },
  { name: 'requests', title: 'Requests', group: 'Monitor', letter: 'r', access: 'tenant', isScoped: true },
  { name: 'ledger', title: 'Ledger', group: 'Monitor', letter: 'l', access: 'tenant', isScoped: true },
  { name: 'playground', title: 'Playground', group: 'Build', letter: 'p', access: 'tenant', isScoped: true },
  { name: 'webhooks', title: 'Webhooks', group: 'Build', letter: 'w', access: 'tenant', isScoped: true },
  { name: 'keys', title: 'Keys', group: 'Manage', letter: 'k', access: 'viewer', isScoped: true },
  { name: 'tenants', title: 'Tenants', group: 'Manage', letter: 't', access: 'viewer', isScoped: false },
  { name: 'channels', title: 'Channels', group: 'Manage', letter: 'c', access: 'viewer', isScoped: false },
  { name: 'audit', title: 'Audit', group: 'Manage', letter: 'a', access: 'viewer', isScoped: false },
  { name: 'sessions', title: 'Sessions', group: 'Manage', letter: 's', access: 'tenant', isScoped: false },
] as const satisfies readonly ConsolePage[]

/** The name of a page. */
export type PageName = (typeof CONSOLE_PAGES)[number]['name']

/** A page that the navigation can lead to. */
export type NamedPage = (typeof CONSOLE_PAGES)[number]

/** The path of a page; the overview is the console itself. */
export function pagePath(name: PageName): string {
  return name === 'overview' ? '/console' : `/console/${name}`
}

/** The page that a path is, or is below; undefined for a path of no page. */
export function pageNameOf(path: string): PageName | undefined {
  return CONSOLE_PAGES.find(({ name }) => {
    const own = pagePath(name)
    return path === own || (name !== 'overview' && path.startsWith(`${own}/`))
  })?.name
}

/** The pages that a role sees. */
export function pagesOf(role: Role): readonly NamedPage[] {
  return CONSOLE_PAGES.filter(({ access }) => reaches(role, access))
}
