import type { MiddlewareObj } from '@middy/core'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import { findCaller } from '#adapters/stores/key-store.ts'
import type { Table } from '#adapters/stores/table.ts'
import { bearerKey, isPlausibleKey } from '#core/api-key.ts'
import { InvalidApiKeyError } from '#core/errors.ts'
import { type ApiEvent, type ApiResult, headerOf } from './api-event.ts'

/**
 * Puts the caller on the event, from `Authorization: Bearer <key>`: one strongly consistent read.
 * Missing, malformed, mistyped, unknown, expired and revoked keys all throw the same InvalidApiKeyError,
 * the first three without a read.
 */
export function authenticate(openTable: () => Table): MiddlewareObj<ApiEvent, ApiResult> {
  const before = async ({ event }: { event: ApiEvent }) => {
    const key = isRepeated(event) ? undefined : bearerKey(headerOf(event, 'authorization'))
    if (key === undefined || !isPlausibleKey(key)) {
      throw new InvalidApiKeyError()
    }
    const caller = await findCaller(openTable(), sha256Hex(key), Math.trunc(Date.now() / 1000))
    if (caller === undefined) {
      throw new InvalidApiKeyError()
    }
    event.caller = caller
  }
  return { before }
}

/** Two keys in one request have no meaning, and proxies disagree on which of them counts. */
function isRepeated(event: ApiEvent): boolean {
  const keys = Object.entries(event.multiValueHeaders ?? {}).flatMap(([name, values]) =>
    name.toLowerCase() === 'authorization' ? (values ?? []) : [],
  )
  return keys.length > 1
}
