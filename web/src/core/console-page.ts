/** The role of a session. */
export type Role = 'owner' | 'viewer' | 'finance' | 'tenant-admin' | 'tenant-viewer' | 'tenant'

/** Roles by what they may do, as the gateway names it. The gateway decides; this hides what it would refuse. */
export const ROLES_BY_ACCESS = {
  /** Changes everything. */
  owner: ['owner'],
  /** Sees everything. */
  viewer: ['owner', 'viewer'],
  /** Sees the money of all tenants. */
  finance: ['owner', 'viewer', 'finance'],
  everyone: ['owner', 'viewer', 'finance', 'tenant-admin', 'tenant-viewer', 'tenant'],
  /** Sees requests and jobs. */
  tenant: ['owner', 'viewer', 'tenant-admin', 'tenant-viewer', 'tenant'],
  /** Sees keys. */
  'tenant-viewer': ['owner', 'viewer', 'tenant-admin', 'tenant-viewer'],
  /** Changes keys, alerts and webhooks. */
  'tenant-admin': ['owner', 'tenant-admin'],
  /** Spends credits. */
  playground: ['owner', 'tenant-admin', 'tenant'],
} as const satisfies Readonly<Record<string, readonly Role[]>>

/** What a role may do. */
export type Access = keyof typeof ROLES_BY_ACCESS

/** Whether a role may do this. */
export function mayDo(role: Role, access: Access): boolean {
  const roles: readonly Role[] = ROLES_BY_ACCESS[access]
  return roles.includes(role)
}

/** An entry of the navigation. */
export type ConsolePage = {
  /** The last part of its path. */
  readonly name: string
  readonly title: string
  readonly group: 'Monitor' | 'Build' | 'Manage'
  /** Typed after `g`. */
  readonly letter: string
  /** Who sees the page. */
  readonly access: Access
  /** Whether the page shows one tenant if its url names one. */
  readonly isScoped: boolean
}

/** Every page of the navigation, in its order. Routes and icons follow it. */
export const CONSOLE_PAGES = [
  { name: 'overview', title: 'Overview', group: 'Monitor', letter: 'o', access: 'everyone', isScoped: true },
  { name: 'usage', title: 'Usage', group: 'Monitor', letter: 'u', access: 'everyone', isScoped: true },
  { name: 'videos', title: 'Videos', group: 'Monitor', letter: 'v', access: 'tenant', isScoped: true },
  { name: 'requests', title: 'Requests', group: 'Monitor', letter: 'r', access: 'tenant', isScoped: true },
  { name: 'ledger', title: 'Ledger', group: 'Monitor', letter: 'l', access: 'everyone', isScoped: true },
  { name: 'playground', title: 'Playground', group: 'Build', letter: 'p', access: 'tenant', isScoped: true },
  { name: 'webhooks', title: 'Webhooks', group: 'Build', letter: 'w', access: 'tenant', isScoped: true },
  { name: 'keys', title: 'Keys', group: 'Manage', letter: 'k', access: 'tenant-viewer', isScoped: true },
  { name: 'tenants', title: 'Tenants', group: 'Manage', letter: 't', access: 'finance', isScoped: false },
  { name: 'channels', title: 'Channels', group: 'Manage', letter: 'c', access: 'viewer', isScoped: false },
  { name: 'audit', title: 'Audit', group: 'Manage', letter: 'a', access: 'viewer', isScoped: false },
  { name: 'sessions', title: 'Sessions', group: 'Manage', letter: 's', access: 'everyone', isScoped: false },
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
  return CONSOLE_PAGES.filter(({ access }) => mayDo(role, access))
}
