import { AdminConflictError, AdminNotFoundError } from '#core/admin/errors.ts'
import { emptyRequest, parseRequest } from '#core/admin/parse-request.ts'
import type { Session } from '#core/admin/session.ts'
import type { HttpError } from '#core/errors.ts'
import { isOfTenant } from '#core/roles.ts'
import { actorOf, type ServedOperation, sessionOf } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { once } from '#platform/cache.ts'
import type { Clock } from '#platform/clock.ts'
import { getApiKey, noKey } from '#store/keys/api-keys.ts'
import { type RefusalCode, StoreRefusal } from '#store/store-refusal.ts'
import { type AdminOperation, allowedTenant, type ReadServices, routeOf, type WriteServices } from './operation.ts'

/** Serves an operation that reads. @param openServices opens what the operation may use. */
export function serveRead(
  operation: AdminOperation,
  openServices: () => Pick<Clock, 'nowMilliseconds'> & ReadServices,
): ServedOperation {
  return served(operation, (event) => ({ input: inputOf(operation, event), services: openServices() }))
}

/** Serves an operation that writes; the function that reads does not contain what parses bodies. */
export function serveWrite(
  operation: AdminOperation,
  openServices: () => Pick<Clock, 'nowMilliseconds'> & Omit<WriteServices, 'actor'>,
): ServedOperation {
  const body = once(operation.body ?? emptyRequest)
  return served(operation, (event) => ({
    input: { ...inputOf(operation, event), ...parseRequest(body(), event.json) },
    services: { ...openServices(), actor: actorOf(event) },
  }))
}

function served(
  operation: AdminOperation,
  read: (event: ApiEvent) => { readonly input: object; readonly services: Pick<ReadServices, 'table'> },
): ServedOperation {
  return {
    ...routeOf(operation),
    serve: async (event) => {
      const { input, services } = read(event)
      const { askedTenant } = event
      const session = sessionOf(event)
      const context = { ...services, session, askedTenant, warn: () => undefined }
      try {
        await requireOwnTarget(session, input, services.table)
        return { body: await operation.run(input, context as unknown as Parameters<AdminOperation['run']>[1]) }
      } catch (error) {
        throw error instanceof StoreRefusal ? responseTo(error) : error
      }
    },
  }
}

/**
 * Keeps a role of one tenant to that tenant, whatever the operation: by `tenant_id` of the path, `tenant` of query or body, and the tenant of
 * the key that the path names. `test/admin/roles.test.ts` requires one of them of every operation that serves such a role.
 * @throws ForbiddenError for another tenant; StoreRefusal `not_found` for its key, as for one that does not exist.
 */
async function requireOwnTarget(
  session: Session,
  input: { readonly tenant_id?: string; readonly tenant?: string; readonly key_id?: string },
  table: Pick<ReadServices['table'], 'readItem'>,
): Promise<void> {
  if (!isOfTenant(session.role)) {
    return
  }
  const own = allowedTenant(session, input.tenant_id)
  allowedTenant(session, input.tenant)
  if (input.key_id !== undefined && (await getApiKey(table, input.key_id)).listing.tenantId !== own) {
    throw noKey(input.key_id)
  }
}

/** The parameters of path and query. @throws AdminNotFoundError, InvalidRequestError naming the parameter. */
function inputOf({ path, query = {} }: AdminOperation, event: ApiEvent): object {
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, pathId(event, name, targetOf(name))])
  const given = event.queryStringParameters ?? {}
  const filters = Object.entries(query).map(([name, read]) => [name, read(given, name)])
  return Object.fromEntries([...ids, ...filters])
}

/** What a parameter such as `key_id` names, in words. */
function targetOf(parameter: string): string {
  return parameter.replace(/_id$/, '').replaceAll('_', ' ')
}

/** Longer than any id of this service, and far below the bound of a key of the table. */
export const ID_CHARACTERS_MAX = 200

/**
 * The id in a path. An id that the table cannot hold is one that does not exist.
 * @param what the target in the error, such as `tenant`.
 * @throws AdminNotFoundError
 */
export function pathId({ pathParameters }: ApiEvent, name: string, what: string): string {
  const id = pathParameters?.[name] ?? ''
  if (id === '' || id.length > ID_CHARACTERS_MAX || !id.isWellFormed()) {
    throw new AdminNotFoundError(`no ${what} has this id`)
  }
  return id
}

/** The field of a request that permits what was refused. */
const PERMITTED_BY: Partial<Record<RefusalCode, string>> = {
  id_taken: 'id',
  name_taken: 'allow_duplicate_name',
  below_zero: 'allow_debt',
  rotated_already: 'again',
}

/** What HTTP responds to a refusal: 404 for a target that does not exist, else 409. */
export function responseTo(refusal: StoreRefusal): HttpError {
  const { code, message } = refusal
  if (code === 'not_found') {
    return new AdminNotFoundError(message, { cause: refusal })
  }
  const param = PERMITTED_BY[code]
  const hint = code === 'below_zero' ? '; `allow_debt` permits this' : ''
  return new AdminConflictError(`${message}${hint}`, code, {
    cause: refusal,
    ...(param === undefined ? {} : { param }),
  })
}
