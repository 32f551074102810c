/** The role of a session. `tenant` is an API key, which sees its own tenant alone. */
export type Role = 'tenant' | 'viewer' | 'owner'

/** Who may call an operation: everybody, or sessions with at least this role. */
export type Access = 'public' | Role

/** The functions of the admin API, each with a role of its own on AWS. */
export type AdminFunction = 'sign-in' | 'read' | 'write'

/** One operation of the admin API, as the file of its function lists it. */
export type AdminRow = {
  /** Also the file of the operation in the folder of its function. */
  readonly operation: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** API Gateway notation: `{name}` is a path parameter. */
  readonly path: string
  readonly access: Access
  readonly successStatus: number
  /** 404 is on every row: requests that do not come through the front door get it. */
  readonly errorStatuses: readonly number[]
  /** Names of its query parameters; all others are a 400. */
  readonly query?: readonly string[]
  /** The tenant that `tenant` names is read in the same request to the table as the session. */
  readonly readsTenant?: true
  /** Takes other query parameters too, and ignores them: an OpenID provider adds its own. */
  readonly isQueryOpen?: true
}

/** One operation of the admin API with its function. */
export type AdminRoute = AdminRow & { readonly function: AdminFunction }
