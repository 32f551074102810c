import type { Context } from 'aws-lambda'
import { once } from '#platform/cache.ts'
import { findCaller } from '#store/callers.ts'
import { KeyRateLimiter } from '#store/limits/key-rate-limiter.ts'
import { openTable } from '#store/table/sdk-table.ts'
import type { Table } from '#store/table/table.ts'
import type { ApiEvent, ApiResult } from './api-event.ts'
import type { Found, ShownKey } from './authenticate.ts'
import { handlerChain } from './handler-chain.ts'
import type { UnknownFields } from './request-input.ts'

type ApiOptions = {
  readonly operation: string
  /** Left out for operations without a body. */
  readonly bodyBytesMax?: number
  /** Left out for operations without a body. */
  readonly unknownFields?: UnknownFields
  readonly openTable?: () => Table
  /** Replaces the read of the key alone. */
  readonly lookUpKey?: (table: Table, shown: ShownKey) => Promise<Found | undefined>
}

/** The chain of the operations on video jobs, which read the key from the table at each request. */
export function apiHandler(
  { openTable: open = once(openTable), lookUpKey = readKey, ...steps }: ApiOptions,
  handle: (event: ApiEvent, context: Context) => Promise<ApiResult>,
) {
  const limiter = once(() => new KeyRateLimiter(open()))
  const key = { lookUp: (shown: ShownKey) => lookUpKey(open(), shown), limiter }
  return handlerChain({ ...steps, key }).handler(handle)
}

/** Looks a key up by one strongly consistent read. */
export async function readKey(table: Table, { keyDigest, nowSeconds }: ShownKey): Promise<Found | undefined> {
  const caller = await findCaller(table, keyDigest, nowSeconds)
  return caller === undefined ? undefined : { caller }
}
