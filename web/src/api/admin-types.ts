import type { components, paths } from './admin-api.d.ts'

type Schemas = components['schemas']

/** Objects of the admin API, by the names of `admin-openapi.json`. */
export type Overview = Schemas['GetOverviewResponse']
export type Usage = Schemas['GetUsageResponse']
export type TenantDetail = Schemas['TenantDetail']
export type TenantRow = Schemas['Tenant']
export type KeyRow = Schemas['Key']
export type RequestRow = Schemas['RelayedRequest']
export type LedgerRow = Schemas['LedgerEntry']
export type AuditRow = Schemas['AuditEntry']
export type SessionRow = Schemas['SessionList']['data'][number]
export type ChannelRow = Schemas['Channel']
export type ModelRow = Schemas['Model']
export type Setting = Schemas['Setting']
export type Budget = Pick<Schemas['KeyBudget'], 'amount' | 'period' | 'spent' | 'held'>
export type VideoRow = Schemas['VideoList']['data'][number]
export type VideoDetail = Schemas['VideoDetail']
export type CallbackRow = Schemas['ListedCallbackAttempt']
export type SignInMethods = Schemas['SignIn']
export type SignedInSession = Schemas['Session']
export type PlaygroundKey = Schemas['CreatePlaygroundKeyResponse']

type JsonOf<Content> = Content extends { content: { 'application/json': infer Body } } ? Body : never

/** The body of an operation's successful response; undefined for a 204. */
type ResultOf<Operation> = Operation extends { responses: infer Responses }
  ? Responses extends { 200: infer Ok }
    ? JsonOf<Ok>
    : Responses extends { 201: infer Created }
      ? JsonOf<Created>
      : undefined
  : never

/** What each reading request returns, by its path below `/admin/v1`. */
export type AdminReads = {
  [Path in keyof paths as Path extends `/admin/v1${infer Rest}` ? Rest : never]: ResultOf<paths[Path]['get']>
}

/** A path of the admin API that can be read. */
export type AdminPath = keyof AdminReads

/** A row of a list: of the one field that is an array of objects. */
export type RowOf<Path extends AdminPath> = ElementOf<AdminReads[Path][keyof AdminReads[Path]]>

type ElementOf<Field> = Field extends readonly (infer Row extends object)[] ? Row : never

/** A method with an effect. */
export type WriteMethod = 'POST' | 'PATCH' | 'DELETE'

type OperationOf<Method extends WriteMethod, Path extends string> = `/admin/v1${Path}` extends keyof paths
  ? paths[`/admin/v1${Path}`][Lowercase<Method>]
  : never

/** A path that a method can be sent to. */
export type WritePath<Method extends WriteMethod> = {
  [Path in keyof paths]: paths[Path][Lowercase<Method>] extends object
    ? Path extends `/admin/v1${infer Rest}`
      ? Rest
      : never
    : never
}[keyof paths]

/** What an operation takes: the ids of its path, its query and its body, each only where it has one. */
export type WriteInput<Method extends WriteMethod, Path extends string> = ParametersOf<OperationOf<Method, Path>> &
  BodyOf<OperationOf<Method, Path>>

/** What an operation returns. */
export type WriteResult<Method extends WriteMethod, Path extends string> = ResultOf<OperationOf<Method, Path>>

type ParametersOf<Operation> = Operation extends { parameters: infer Parameters }
  ? (Parameters extends { path: infer Ids } ? { readonly path: Ids } : object) &
      (Parameters extends { query?: infer Query } ? { readonly query?: Query } : object)
  : object

type BodyOf<Operation> = Operation extends { requestBody: infer Content }
  ? { readonly body: JsonOf<Content> }
  : Operation extends { requestBody?: infer Content }
    ? { readonly body?: JsonOf<Content> }
    : object
