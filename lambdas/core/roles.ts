/** The roles of one tenant alone. `tenant` is an API key that signed in to the console. */
export const TENANT_ROLES = ['tenant-admin', 'tenant-viewer', 'tenant'] as const

/** The roles of admin keys and of users of an OpenID provider, from the one that may most. */
export const GIVEN_ROLES = ['owner', 'viewer', 'finance', 'tenant-admin', 'tenant-viewer'] as const

/** A role that an admin key or a rule of the configuration gives. */
export type GivenRole = (typeof GIVEN_ROLES)[number]

/** What a session or an admin key may do. */
export type Role = GivenRole | 'tenant'

/** The roles that operations serve, by the words with which operations name them. */
export const SERVED_ROLES = {
  /** Changes that concern all tenants, or their money. */
  owner: ['owner'],
  /** What operators see. */
  viewer: ['owner', 'viewer'],
  /** Money of any tenant that its own roles do not see. */
  finance: ['owner', 'viewer', 'finance'],
  /** Money, usage and sessions: everybody sees their own. */
  everyone: [...GIVEN_ROLES, 'tenant'],
  /** What a tenant is told of its own requests and jobs. */
  tenant: ['owner', 'viewer', 'tenant-admin', 'tenant-viewer', 'tenant'],
  /** Settings of a tenant, which its API keys do not see. */
  'tenant-viewer': ['owner', 'viewer', 'tenant-admin', 'tenant-viewer'],
  /** Changes within a tenant. */
  'tenant-admin': ['owner', 'tenant-admin'],
  /** Spends credits of a tenant. */
  playground: ['owner', 'tenant-admin', 'tenant'],
} as const satisfies Readonly<Record<string, readonly Role[]>>

/** Who may call an operation: everybody, or sessions and admin keys with one of the roles of {@link SERVED_ROLES}. */
export type Access = 'public' | keyof typeof SERVED_ROLES

/** The roles that operations with this access serve; undefined for everybody. */
export function servedRoles(access: Access): readonly Role[] | undefined {
  return access === 'public' ? undefined : SERVED_ROLES[access]
}

/** Whether somebody with this role may call operations with this access. */
export function mayAccess(role: Role, access: Access): boolean {
  return servedRoles(access)?.includes(role) ?? true
}

/** Whether a role sees and changes nothing but one tenant. */
export function isOfTenant(role: Role): boolean {
  return TENANT_ROLES.some((each) => each === role)
}
