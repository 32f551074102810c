import { AdminKeyRefusedError, TooManySignInsError } from '#core/admin/errors.ts'
import { addressOfSignIn } from '#core/admin/sign-in-address.ts'
import { bearerKey } from '#core/api-key.ts'
import { VIEWER_ADDRESS_HEADER } from '#core/http.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import { countForHolder, takeSignInPlace } from '#store/limits/console-rates.ts'
import { findAdminKey } from '#store/sessions/admin-keys.ts'
import { type FoundSession, nameOf } from '#store/sessions/find-session.ts'
import type { Table } from '#store/table/table.ts'
import { isSortKey, tableKeys } from '#store/table/table-keys.ts'
import { type ApiEvent, headerOf } from './api-event.ts'

/** Whether a request calls the admin API as a program, with a bearer. Its cookies do not count then, whatever they are. */
export function hasBearer(event: ApiEvent): boolean {
  return /^bearer\s/i.test(headerOf(event, 'authorization') ?? '')
}

/** The address from which a request comes, as failures are counted. */
export function addressOf(event: ApiEvent): string {
  const viewer = process.env.FRONT_DOOR_SECRET_ARN ? headerOf(event, VIEWER_ADDRESS_HEADER) : undefined
  return addressOfSignIn(viewer ?? event.requestContext.identity.sourceIp)
}

/**
 * What a request with an admin key may see, as if it were a session: nothing of it is stored. Counts the request of the key.
 * @param tenantId a tenant to read along.
 * @throws AdminKeyRefusedError for a key that does not work; TooManySignInsError from the eleventh of an address within a minute;
 *   HolderRateExceededError for more than 300 requests of the key in a minute.
 */
export async function requireAdminKey(
  event: ApiEvent,
  tenantId: string | undefined,
  table: Pick<Table, 'readItems' | 'updateItem'>,
): Promise<FoundSession> {
  const now = Date.now()
  const key = bearerKey(headerOf(event, 'authorization')) ?? ''
  const along = tenantId !== undefined && isSortKey(tenantId) ? tableKeys.tenant(tenantId) : undefined
  const { user, along: item } = await findAdminKey(table, key, along)
  if (user === undefined) {
    count('sign_in_refused')
    const address = addressOf(event)
    // No entry of the audit log: a function that shows things writes none.
    logger.warn('admin key refused', { address })
    const { retryAfterSeconds } = await takeSignInPlace(table, address, now)
    throw retryAfterSeconds === undefined ? new AdminKeyRefusedError() : new TooManySignInsError(retryAfterSeconds)
  }
  await countForHolder(table, 'admin-request', { holder: user.holder, nowMilliseconds: now })
  const session = { id: user.keyId, ...user, createdAt: now, seenAt: now, expiresAt: now }
  return { session, tenant: item === undefined ? undefined : nameOf(item) }
}
