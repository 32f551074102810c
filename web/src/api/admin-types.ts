import type { components, paths } from './admin-api.d.ts'

type Schemas = components['schemas']

/** Objects of the admin API, by the names of `admin-openapi.json`. */
export type Overview = Schemas['Overview']
export type Usage = Schemas['Usage']
export type TenantDetail = Schemas['TenantDetail']
export type TenantRow = Schemas['TenantList']['data'][number]
export type KeyRow = Schemas['KeyList']['data'][number]
export type LedgerRow = Schemas['LedgerList']['data'][number]
export type AuditRow = Schemas['AuditList']['data'][number]
export type SessionRow = Schemas['SessionList']['data'][number]
export type Channels = Schemas['Channels']
export type Budget = Schemas['Budget']
export type VideoRow = Schemas['VideoList']['data'][number]
export type VideoDetail = Schemas['VideoDetail']
export type CallbackRow = Schemas['CallbackAttemptList']['data'][number]
export type SignInMethods = Schemas['SignIn']

type JsonOf<Operation> = Operation extends {
  responses: { 200: { content: { 'application/json': infer Body } } }
}
  ? Body
  : never

/** What each reading request returns, by its path below `/admin/v1`. */
export type AdminReads = {
  [Path in keyof paths as Path extends `/admin/v1${infer Rest}` ? Rest : never]: JsonOf<paths[Path]['get']>
}

/** A path of the admin API that can be read. */
export type AdminPath = keyof AdminReads

/** A row of a list. */
export type RowOf<Path extends AdminPath> = AdminReads[Path] extends { data: readonly (infer Row)[] } ? Row : never
