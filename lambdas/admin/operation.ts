import type * as z from 'zod/mini'
import { ForbiddenError } from '#core/admin/errors.ts'
import type { PageQuery } from '#core/admin/page-query.ts'
import type { AdminRoute } from '#core/admin/routes.ts'
import type { Session } from '#core/admin/session.ts'
import type { Summary } from '#core/admin/summary.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { InvalidRequestError } from '#core/errors.ts'
import type { AllFigures } from '#core/measures.ts'
import { type Access, isOfTenant, mayAccess } from '#core/roles.ts'
import type { Clock } from '#platform/clock.ts'
import type { Actor } from '#store/audit/audit-entry.ts'
import type { FoundTenant } from '#store/sessions/find-session.ts'
import type { RefusalCode } from '#store/store-refusal.ts'
import type { Table } from '#store/table/table.ts'
import { isSortKey } from '#store/table/table-keys.ts'
import { noTenant, type TenantListing } from '#store/tenants/tenants.ts'
import type { VerificationRate } from './verification-rate.ts'

/** Who asks, and when. */
type Caller = Pick<Clock, 'nowMilliseconds'> & {
  /** Undefined on the command line, which sees everything. */
  readonly session: Session | undefined
  /** The tenant that `tenant` names, if it exists and the operation `readsTenant`. */
  readonly askedTenant?: FoundTenant | undefined
  /** Tells a person something that is no error. The command line prints the sentence, HTTP drops it. */
  readonly warn: (sentence: string) => void
}

/** What operations that read may use. The function on AWS has no other rights. */
export type ReadServices = ConfigService & {
  readonly table: Pick<Table, 'readItem' | 'readItems' | 'queryPage'>
  /** Errors and latency of channels; undefined if they cannot be read. */
  readonly figures: (channels: readonly string[], nowMilliseconds: number) => Promise<AllFigures | undefined>
  /** Every tenant by id, as of a time in Unix milliseconds. @throws SummaryNotWrittenError before the first summary. */
  readonly tenants: () => Promise<{ readonly asOf: number; readonly tenants: readonly TenantListing[] }>
  /** What pages over all tenants show. @throws SummaryNotWrittenError before the first summary. */
  readonly summary: () => Promise<Summary>
  /** The verifications of this instance; undefined on the command line. */
  readonly verifications: VerificationRate | undefined
}

type ConfigService = {
  /** The configuration of the deployment, without switches. */
  readonly config: () => GatewayConfig | Promise<GatewayConfig>
}

/** What operations that write may use. */
export type WriteServices = ConfigService & {
  /** For the audit log. */
  readonly actor: Actor
  readonly table: Table
  /**
   * Looks for models that the configuration does not have. HTTP refuses them; the command line warns, because the next deployment may add them.
   * @param kept reads the models that the target has already.
   * @throws InvalidRequestError that names the model by its place in `models`.
   */
  readonly checkModels: (
    models: readonly string[] | null | undefined,
    kept?: () => Promise<readonly string[]>,
  ) => Promise<void>
}

/** What an operation runs with: what reads gets a table without writes. */
export type OperationContext<Method extends string> = Caller & (Method extends 'GET' ? ReadServices : WriteServices)

/** Reads a query parameter. @throws InvalidRequestError naming the parameter. */
export type QueryReader = (query: PageQuery, name: string) => unknown

type BodySchema = z.ZodMiniType<object>

/** The parameters in a path such as `/admin/v1/keys/{key_id}`. */
type PathInput<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Readonly<Record<Name, string>> & PathInput<Rest>
  : unknown

/** The parsed values of path, query and body, side by side. */
type InputOf<
  Path extends string,
  Query extends Readonly<Record<string, QueryReader>>,
  Body extends BodySchema,
> = PathInput<Path> & {
  readonly [Name in keyof Query]: ReturnType<Query[Name]>
} & z.output<Body>

type Head<Method extends string, Path extends string> = {
  /** A verb and a noun, such as `create-key`. */
  readonly name: string
  readonly method: Method
  /** Starts with `/admin/v1/`; `{name}` is a parameter. */
  readonly path: Path
  readonly access: Exclude<Access, 'public'>
  /** Status of the success. Default: 200. */
  readonly status?: 201 | 204
  /** The codes of its 409. */
  readonly conflicts?: readonly ConflictCode[]
  /** Error statuses that the others do not have. */
  readonly errors?: readonly number[]
  /** The tenant that `tenant` names is read in the same request to the table as the session. */
  readonly readsTenant?: true
  /** Is for pages of the console alone: an admin key cannot call it. */
  readonly needsSession?: true
  /** Its action in the audit log. */
  readonly audit?: string
}

/** Why an operation is refused, besides a target that does not exist. */
export type ConflictCode = Exclude<RefusalCode, 'not_found'>

/** What an operation resolves to. */
export type OutputOf<Operation extends Pick<AdminOperation, 'run'>> = Awaited<ReturnType<Operation['run']>>

/** One operation, with its types erased. */
export type AdminOperation = Head<'GET' | 'POST' | 'PATCH' | 'DELETE', string> & {
  readonly query?: Readonly<Record<string, QueryReader>>
  readonly body?: () => BodySchema
  run(input: object, context: OperationContext<'GET'> & OperationContext<'POST'>): Promise<object>
}

/**
 * Defines one operation once. The admin API, `admin-openapi.json` and the command line follow from the definition. What writes has a file of
 * its own, so that the function that reads does not load it; schemas are made when they are first used.
 * @param definition `run` returns JSON, with ISO times and amounts as decimal strings.
 */
export function defineOperation<
  const Method extends AdminOperation['method'],
  const Path extends string,
  Output extends object,
  const Query extends Readonly<Record<string, QueryReader>> = Readonly<Record<never, QueryReader>>,
  Body extends BodySchema = BodySchema,
>(
  definition: Head<Method, Path> & {
    readonly query?: Query
    readonly body?: () => Body
    run(input: InputOf<Path, Query, Body>, context: OperationContext<Method>): Promise<Output>
  },
) {
  return definition
}

/** Statuses of every operation: 404 is for requests that do not come through the front door, too, and 429 for those of an admin key. */
const READ_ERRORS = [400, 401, 403, 404, 429, 500, 503] as const

/** The row of an operation for what routes and documents requests. */
export function routeOf({ name, method, path, access, ...operation }: AdminOperation): AdminRoute {
  const isRead = method === 'GET'
  const own = [...(operation.errors ?? []), ...(operation.conflicts === undefined ? [] : [409])]
  return {
    ...{ operation: name, method, path, access, successStatus: operation.status ?? 200 },
    errorStatuses: [...READ_ERRORS, ...(isRead ? [] : [413]), ...own].toSorted((left, right) => left - right),
    query: Object.keys(operation.query ?? {}),
    ...(operation.readsTenant && { readsTenant: true }),
    ...(operation.needsSession && { needsSession: true }),
    function: isRead ? 'read' : 'write',
  }
}

/**
 * The tenant whose data a session may see if it asks for this one: of a role of one tenant its own, whatever the request says or leaves out.
 * @throws ForbiddenError for a role of one tenant that names another; InvalidRequestError for what is no id.
 */
export function allowedTenant(session: Session | undefined, asked: string | undefined): string | undefined {
  if (
    session &&
    isOfTenant(session.role) &&
    (session.tenant === null || (asked !== undefined && asked !== session.tenant.id))
  ) {
    throw new ForbiddenError('this role sees its own tenant alone')
  }
  const tenantId = session?.tenant?.id ?? asked
  if (tenantId !== undefined && !isSortKey(tenantId)) {
    throw new InvalidRequestError([{ path: 'tenant', message: '`tenant` must be the id of a tenant' }])
  }
  return tenantId
}

/**
 * The tenant of a list that is of one tenant or of all, where the operation `readsTenant`. The command line has found it before.
 * @throws as {@link allowedTenant}; StoreRefusal `not_found`.
 */
export function existingTenant(
  { session, askedTenant }: Pick<Caller, 'session' | 'askedTenant'>,
  asked: string | undefined,
): string | undefined {
  const tenantId = allowedTenant(session, asked)
  if (tenantId !== undefined && session?.tenant === null && askedTenant === undefined) {
    throw noTenant(tenantId.slice(0, 64))
  }
  return tenantId
}

/** The same for a list that always has a tenant. @throws InvalidRequestError if an admin names none; and as {@link existingTenant}. */
export function requireTenant(context: Pick<Caller, 'session' | 'askedTenant'>, asked: string | undefined): string {
  const tenantId = existingTenant(context, asked)
  if (tenantId === undefined) {
    throw new InvalidRequestError([{ path: 'tenant', message: '`tenant` is missing: use the id of a tenant' }])
  }
  return tenantId
}

/** Whether somebody may know upstreams and how they do. Everybody else gets what clients get, such as the code `upstream_auth`. */
export function seesUpstreams(session: Session | undefined): boolean {
  return session === undefined || mayAccess(session.role, 'viewer')
}

/** The fields of rows and details that name or quote an upstream. */
const UPSTREAM_FIELDS = ['channel', 'cause', 'failure_cause', 'upstream_task', 'submit_reply', 'poll_reply'] as const

type UpstreamField = (typeof UPSTREAM_FIELDS)[number]

type Visible<Row> = { readonly [Field in keyof Row]: Field extends UpstreamField ? Row[Field] | null : Row[Field] }

/** A row or a detail as a session may see it: nobody but owners and viewers has fields that name or quote an upstream. */
export function visibleTo<Row extends { readonly [Field in UpstreamField]?: unknown }>(
  session: Session | undefined,
  row: Row,
): Visible<Row> {
  const hidden = seesUpstreams(session) ? [] : UPSTREAM_FIELDS.filter((field) => field in row)
  return { ...row, ...Object.fromEntries(hidden.map((field) => [field, null])) } as Visible<Row>
}

/** A time as operations show it. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** The same for times that are kept in whole seconds. */
export function isoSeconds(milliseconds: number): string {
  return isoTime(Math.floor(milliseconds / 1000) * 1000)
}
