import { unixSecondsOf } from '../core/time.ts'
import { adminRequest } from './admin-request.ts'
import type { PlaygroundKey } from './admin-types.ts'
import { queryClient, SESSION } from './query-client.ts'

/** A key that ends sooner is replaced before a request; a video job needs the key for a minute or two. */
const LEFT_SECONDS_MIN = 180

/** Keys that are being made, by their names in the storage. */
const keys = new Map<string, Promise<PlaygroundKey>>()

const PREFIX = 'reelgate.playground-key.'

/** A key is kept for this tab, so that a reload does not make another, and for its session: the next person in the tab gets one of their own. */
function nameOf(tenant: string | undefined): string {
  const session = queryClient.getQueryData<{ readonly id: string } | null>(SESSION)
  return `${PREFIX}${session?.id ?? ''}.${tenant ?? ''}`
}

function keptKey(name: string): PlaygroundKey | undefined {
  const text = sessionStorage.getItem(name)
  return text === null ? undefined : (JSON.parse(text) as PlaygroundKey)
}

/**
 * A key of fifteen minutes for requests of the playground; requests share it until it is about to end.
 * @param tenant left out by a session that belongs to a tenant.
 * @throws ApiError
 */
export async function playgroundKey(tenant: string | undefined): Promise<string> {
  const name = nameOf(tenant)
  const held = (await keys.get(name)) ?? keptKey(name)
  if (held !== undefined && unixSecondsOf(held.expires_at) - Date.now() / 1000 > LEFT_SECONDS_MIN) {
    return held.key
  }
  const asked = adminRequest('/playground/key', {
    method: 'POST',
    body: tenant === undefined ? {} : { tenant },
  }) as Promise<PlaygroundKey>
  keys.set(name, asked)
  try {
    const made = await asked
    sessionStorage.setItem(name, JSON.stringify(made))
    return made.key
  } catch (error) {
    forgetPlaygroundKey(tenant)
    throw error
  }
}

/** Makes the next request ask for another key, after the API has refused this one. */
export function forgetPlaygroundKey(tenant: string | undefined): void {
  keys.delete(nameOf(tenant))
  sessionStorage.removeItem(nameOf(tenant))
}

/** Forgets every key, at the end of a session. */
export function forgetPlaygroundKeys(): void {
  keys.clear()
  for (const name of Object.keys(sessionStorage).filter((each) => each.startsWith(PREFIX))) {
    sessionStorage.removeItem(name)
  }
}
