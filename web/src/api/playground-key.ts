import { unixSecondsOf } from '../core/time.ts'
import { adminRequest } from './admin-request.ts'
import type { PlaygroundKey } from './admin-types.ts'

/** A key that ends sooner is replaced before a request; a video job needs the key for a minute or two. */
const LEFT_SECONDS_MIN = 180

/** Keys by tenant, in the memory of this page alone. */
const keys = new Map<string, Promise<PlaygroundKey>>()

/**
 * A key of fifteen minutes for requests of the playground; requests share it until it is about to end.
 * @param tenant left out by a session that belongs to a tenant.
 * @throws ApiError
 */
export async function playgroundKey(tenant: string | undefined): Promise<string> {
  const held = await keys.get(tenant ?? '')
  if (held !== undefined && unixSecondsOf(held.expires_at) - Date.now() / 1000 > LEFT_SECONDS_MIN) {
    return held.key
  }
  const asked = adminRequest('/playground/key', {
    method: 'POST',
    body: tenant === undefined ? {} : { tenant },
  }) as Promise<PlaygroundKey>
  keys.set(tenant ?? '', asked)
  try {
    return (await asked).key
  } catch (error) {
    forgetPlaygroundKey(tenant)
    throw error
  }
}

/** Makes the next request ask for another key, after the API has refused this one. */
export function forgetPlaygroundKey(tenant: string | undefined): void {
  keys.delete(tenant ?? '')
}

/** Forgets every key, at the end of a session. */
export function forgetPlaygroundKeys(): void {
  keys.clear()
}
