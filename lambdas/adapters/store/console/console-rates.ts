import { HolderRateExceededError } from '#core/admin/errors.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { type MinutePlace, takeMinutePlace } from './minute-count.ts'

/** Failed sign-ins that an address has in a minute. */
const FAILURES_MAX = 10

/** Counts a sign-in of an address as failed before it is judged. The place is given back when the sign-in succeeds. */
export async function takeSignInPlace(
  table: Pick<Table, 'updateItem'>,
  address: string,
  nowMilliseconds: number,
): Promise<MinutePlace> {
  return await takeMinutePlace(table, { key: tableKeys.signInFailures(address), max: FAILURES_MAX }, nowMilliseconds)
}

/** What a holder may do so often in a minute: each time writes a session or a key, and an entry of the audit log. */
const OF_HOLDER = {
  'sign-in': { max: 20, name: 'sign-ins' },
  'playground-key': { max: 20, name: 'playground keys' },
} as const

/**
 * Counts what a holder of sessions does.
 * @param holder one key, one user of the provider, or the users of the local host.
 * @throws HolderRateExceededError for one too many in a minute.
 */
export async function countForHolder(
  table: Pick<Table, 'updateItem'>,
  action: keyof typeof OF_HOLDER,
  { holder, nowMilliseconds }: { readonly holder: string; readonly nowMilliseconds: number },
): Promise<void> {
  const { max, name } = OF_HOLDER[action]
  const counted = { key: tableKeys.holderRate(action, holder), max }
  const { retryAfterSeconds } = await takeMinutePlace(table, counted, nowMilliseconds)
  if (retryAfterSeconds !== undefined) {
    throw new HolderRateExceededError(name, retryAfterSeconds)
  }
}
