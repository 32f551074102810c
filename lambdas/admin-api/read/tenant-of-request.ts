import { AdminNotFoundError, ForbiddenError } from '#core/admin/errors.ts'
import type { Session } from '#core/admin/session.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { sessionOf } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import type { FoundTenant } from '#store/sessions/find-session.ts'
import { isSortKey } from '#store/table/table-keys.ts'
import type { Suspension } from '#store/tenants/tenants.ts'

/**
 * The tenant whose page is asked for: of an API key its own, whatever the request says or leaves out; else the one that `tenant` names.
 * Undefined if an admin names none.
 * @throws ForbiddenError for an API key that names another tenant.
 */
export function tenantIdIfGiven(event: ApiEvent): string | undefined {
  return allowedTenant(sessionOf(event), event.queryStringParameters?.tenant)
}

/** @throws InvalidRequestError if an admin names no tenant. */
export function tenantIdOf(event: ApiEvent): string {
  const tenantId = tenantIdIfGiven(event)
  if (tenantId === undefined) {
    throw new InvalidRequestError([{ path: 'tenant', message: '`tenant` is missing: use the id of a tenant' }])
  }
  return tenantId
}

/** The tenant that a session may see if it asks for this one. @throws ForbiddenError */
export function allowedTenant({ role, tenant }: Session, asked: string | undefined): string | undefined {
  if (role === 'tenant' && (tenant === null || (asked !== undefined && asked !== tenant.id))) {
    throw new ForbiddenError('an API key sees its own tenant alone')
  }
  const tenantId = tenant?.id ?? asked
  if (tenantId !== undefined && !isSortKey(tenantId)) {
    throw new InvalidRequestError([{ path: 'tenant', message: '`tenant` must be the id of a tenant' }])
  }
  return tenantId
}

/**
 * The tenant of a page that always has one, which was read with the session, or is that of the API key.
 * @throws InvalidRequestError if an admin names none; ForbiddenError for an API key that names another; AdminNotFoundError for an
 *   unknown tenant.
 */
export function tenantOf(event: ApiEvent): FoundTenant {
  const tenantId = tenantIdOf(event)
  const { tenant } = sessionOf(event)
  const found = tenant?.id === tenantId ? tenant : event.askedTenant
  if (found === undefined) {
    throw unknownTenant(tenantId)
  }
  return { id: found.id, name: found.name }
}

/** What of a row is for operators alone: what served a request, and why an operator moved credits. */
type OperatorFields = { readonly channel: string | null; readonly reason?: string | null }

/** A row as a session may see it: an API key sees no channel and no note of an operator. */
export function visibleRow<Row extends OperatorFields>({ role }: Session, row: Row): Row {
  if (role !== 'tenant') {
    return row
  }
  return { ...row, channel: null, ...(row.reason === undefined ? {} : { reason: null }) }
}

/**
 * A tenant as a session may see it: why it is suspended is a note of an operator too. A suspension ends the sessions of API keys one key
 * after the other, so one of them may see that it begins.
 */
export function visibleTenant<Named extends { readonly suspension: Suspension | null }>(
  { role }: Session,
  tenant: Named,
): Named {
  return role === 'tenant' ? { ...tenant, suspension: null } : tenant
}

/** No tenant has this id. */
export function unknownTenant(tenantId: string): AdminNotFoundError {
  return new AdminNotFoundError(`no tenant ${tenantId.slice(0, 64)}`)
}
