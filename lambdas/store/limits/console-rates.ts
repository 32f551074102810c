import * as z from 'zod/mini'
import { HolderRateExceededError } from '#core/admin/errors.ts'
import { change, isStill } from '../table/expressions.ts'
import type { Table } from '../table/table.ts'
import { type TableKey, tableKeys } from '../table/table-keys.ts'

const WINDOW_MILLISECONDS = 60_000

/** Tries to count while other requests begin a new minute. */
const TRIES_MAX = 3

/** A place in a minute, with the function that frees it; or how long to wait for one. */
type MinutePlace =
  | { readonly retryAfterSeconds?: never; readonly giveBack: () => Promise<void> }
  | { readonly retryAfterSeconds: number; readonly giveBack?: never }

const countItem = z.object({ windowEnds: z.number(), uses: z.number() })

/** What is counted: its item, and how many there may be in a minute. */
type Counted = { readonly key: TableKey; readonly max: number }

/**
 * Takes one of the places of a minute, which begins with the first of them: one write, over all instances, so that requests at the same
 * time cannot pass the limit together.
 */
export async function takeMinutePlace(
  table: Pick<Table, 'updateItem'>,
  counted: Counted,
  nowMilliseconds: number,
): Promise<MinutePlace> {
  let windowEnds = nowMilliseconds + WINDOW_MILLISECONDS
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const written = await table.updateItem(countInWindow(counted, nowMilliseconds))
    const count = written.item === undefined ? undefined : countItem.parse(written.item)
    if (written.isWritten && count !== undefined) {
      return placeIn(table, counted.key, count.windowEnds)
    }
    windowEnds = count?.windowEnds ?? nowMilliseconds
    if (windowEnds > nowMilliseconds) {
      break
    }
    windowEnds = nowMilliseconds + WINDOW_MILLISECONDS
    if ((await table.updateItem(beginWindow(counted.key, nowMilliseconds))).isWritten) {
      return placeIn(table, counted.key, windowEnds)
    }
  }
  return { retryAfterSeconds: Math.max(1, Math.ceil((windowEnds - nowMilliseconds) / 1000)) }
}

function countInWindow({ key, max }: Counted, nowMilliseconds: number) {
  const hasPlace = { condition: 'windowEnds > :now AND uses < :max', values: { ':now': nowMilliseconds, ':max': max } }
  return change(key, { add: { uses: 1 } }, [hasPlace])
}

function beginWindow(key: TableKey, nowMilliseconds: number) {
  const windowEnds = nowMilliseconds + WINDOW_MILLISECONDS
  const isOver = { condition: 'attribute_not_exists(PK) OR windowEnds <= :now', values: { ':now': nowMilliseconds } }
  return change(key, { set: { windowEnds, uses: 1, ttl: Math.ceil(windowEnds / 1000) } }, [isOver])
}

/** A minute that is over counts nothing any more. */
function placeIn(table: Pick<Table, 'updateItem'>, key: TableKey, windowEnds: number): MinutePlace {
  const giveBack = async () => {
    const isUsed = { condition: 'uses > :zero', values: { ':zero': 0 } }
    await table.updateItem(change(key, { add: { uses: -1 } }, [isStill('windowEnds', windowEnds), isUsed]))
  }
  return { giveBack }
}

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

/** What a holder may do so often in a minute: most of it writes a session or a key, and an entry of the audit log. */
const OF_HOLDER = {
  'sign-in': { max: 20, name: 'sign-ins' },
  'playground-key': { max: 20, name: 'playground keys' },
  'admin-request': { max: 300, name: 'requests' },
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
