import type { OutputName } from '#core/api/response-schemas.ts'
import { once } from '#platform/cache.ts'
import type { Route } from '#routes/define-route.ts'
import { findCaller } from '#store/callers.ts'
import { KeyRateLimiter } from '#store/limits/key-rate-limiter.ts'
import { openTable } from '#store/table/sdk-table.ts'
import type { Table } from '#store/table/table.ts'
import type { Found, ShownKey } from './authenticate.ts'
import { handlerChain, type Run, responding, type ServedRoute } from './handler-chain.ts'
import type { UnknownFields } from './request-input.ts'

type ApiOptions = {
  /** Left out for operations without a body. */
  readonly unknownFields?: UnknownFields
  readonly openTable?: () => Table
  /** Replaces the read of the key alone. */
  readonly lookUpKey?: (table: Table, shown: ShownKey) => Promise<Found | undefined>
}

/** The chain of the operations with a key, which read the key from the table at each request. */
export function keyedChain(
  route: ServedRoute,
  { openTable: open = once(openTable), lookUpKey = readKey, unknownFields }: ApiOptions = {},
) {
  const limiter = once(() => new KeyRateLimiter(open()))
  const key = { lookUp: (shown: ShownKey) => lookUpKey(open(), shown), limiter }
  return handlerChain(route, { key, unknownFields })
}

/** The handler of an operation with a key. */
export function apiHandler<Output extends OutputName>(
  route: Route<string, Output>,
  options: ApiOptions,
  run: Run<Output>,
) {
  return keyedChain(route, options).handler(responding(route, run))
}

/** Looks a key up by one strongly consistent read. */
export async function readKey(table: Table, { keyDigest, nowSeconds }: ShownKey): Promise<Found | undefined> {
  const caller = await findCaller(table, keyDigest, nowSeconds)
  return caller === undefined ? undefined : { caller }
}
