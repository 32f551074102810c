import type { MiddlewareObj } from '@middy/core'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import { type Caller, findCaller } from '#adapters/stores/key-store.ts'
import type { Table } from '#adapters/stores/table.ts'
import { bearerKey, isPlausibleKey } from '#core/api-key.ts'
import { InvalidApiKeyError } from '#core/errors.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { type ApiEvent, type ApiResult, headerOf } from './api-event.ts'

/** What authentication finds for a key: the caller, and whatever else was read in the same request to the table. */
type Found = { readonly caller: Caller; readonly job?: VideoJob | undefined }

/** Looks up the key of a request, strongly consistent. Undefined for a key that is unknown, revoked or expired. */
export type KeyLookup = (
  table: Table,
  request: { readonly keyDigest: string; readonly nowSeconds: number; readonly event: ApiEvent },
) => Promise<Found | undefined>

const lookUpKey: KeyLookup = async (table, { keyDigest, nowSeconds }) => {
  const caller = await findCaller(table, keyDigest, nowSeconds)
  return caller === undefined ? undefined : { caller }
}

/**
 * Puts the caller on the event, from `Authorization: Bearer <key>`: one strongly consistent read, or the operation's own
 * look-up. Missing, malformed, mistyped, unknown, expired and revoked keys all throw the same InvalidApiKeyError,
 * the first three without a read.
 */
export function authenticate(openTable: () => Table, lookUp = lookUpKey): MiddlewareObj<ApiEvent, ApiResult> {
  const before = async ({ event }: { event: ApiEvent }) => {
    const key = isRepeated(event) ? undefined : bearerKey(headerOf(event, 'authorization'))
    if (key === undefined || !isPlausibleKey(key)) {
      throw new InvalidApiKeyError()
    }
    const nowSeconds = Math.trunc(Date.now() / 1000)
    const found = await lookUp(openTable(), { keyDigest: sha256Hex(key), nowSeconds, event })
    if (found === undefined) {
      throw new InvalidApiKeyError()
    }
    event.caller = found.caller
    event.job = found.job
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
