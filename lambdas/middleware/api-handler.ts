import middy from '@middy/core'
import type { Context } from 'aws-lambda'
import { once } from '#adapters/once.ts'
import { KeyRateLimiter } from '#adapters/store/accounts/key-rate-limiter.ts'
import { findCaller } from '#adapters/store/accounts/key-store.ts'
import { openTable, type Table } from '#adapters/store/table/table.ts'
import { updatableTable } from '#adapters/store/table/updatable-table.ts'
import type { ApiEvent, ApiResult } from './api-event.ts'
import { authenticate, type Found, type ShownKey } from './authenticate.ts'
import { errorResponse } from './error-response.ts'
import { jsonBody } from './json-body.ts'
import { limitRate } from './limit-rate.ts'
import { requestLog } from './request-log.ts'

type ApiOptions = {
  readonly operation: string
  /** Largest body; left out for operations without one. */
  readonly bodyBytesMax?: number
  readonly openTable?: () => Table
  /** In place of reading the key alone. */
  readonly lookUpKey?: (table: Table, shown: ShownKey) => Promise<Found | undefined>
}

/** The chain of every authenticated operation: log, errors, authentication, the key's limit, then the body (a bad key is told before a bad body). */
export function apiHandler(
  { operation, bodyBytesMax, openTable: open = once(openTable), lookUpKey = readKey }: ApiOptions,
  handle: (event: ApiEvent, context: Context) => Promise<ApiResult>,
) {
  const limiter = once(() => new KeyRateLimiter(updatableTable(open())))
  const chain = middy<ApiEvent, ApiResult>()
    .use(requestLog(operation))
    .use(errorResponse())
    .use(authenticate((shown) => lookUpKey(open(), shown)))
    .use(limitRate(limiter))
  return (bodyBytesMax === undefined ? chain : chain.use(jsonBody({ bytesMax: bodyBytesMax }))).handler(handle)
}

/** One strongly consistent read. */
async function readKey(table: Table, { keyDigest, nowSeconds }: ShownKey): Promise<Found | undefined> {
  const caller = await findCaller(table, keyDigest, nowSeconds)
  return caller === undefined ? undefined : { caller }
}
