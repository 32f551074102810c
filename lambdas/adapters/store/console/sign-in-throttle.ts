import * as z from 'zod/mini'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

/** Failed sign-ins that an address has in a minute. */
const FAILURES_MAX = 10
const WINDOW_MILLISECONDS = 60_000

/** Tries to count while other requests of the address begin a new minute. */
const TRIES_MAX = 3

/** A sign-in that may go on, with the function that stops counting it because it succeeded; or how long to wait. */
type SignInPlace =
  | { readonly retryAfterSeconds?: never; readonly giveBack: () => Promise<void> }
  | { readonly retryAfterSeconds: number; readonly giveBack?: never }

const failuresItem = z.object({ windowEnds: z.number(), failures: z.number() })

/**
 * Counts a sign-in of an address as failed before it is judged, so that requests at the same time cannot pass the limit
 * together, over all instances. The minute begins with the first of the failures.
 */
export async function takeSignInPlace(
  table: Pick<Table, 'updateItem'>,
  address: string,
  nowMilliseconds: number,
): Promise<SignInPlace> {
  let windowEnds = nowMilliseconds + WINDOW_MILLISECONDS
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const counted = await table.updateItem(countInWindow(address, nowMilliseconds))
    const failures = counted.item === undefined ? undefined : failuresItem.parse(counted.item)
    if (counted.isWritten && failures !== undefined) {
      return placeIn(table, address, failures.windowEnds)
    }
    windowEnds = failures?.windowEnds ?? nowMilliseconds
    if (windowEnds > nowMilliseconds) {
      break
    }
    windowEnds = nowMilliseconds + WINDOW_MILLISECONDS
    if ((await table.updateItem(beginWindow(address, nowMilliseconds))).isWritten) {
      return placeIn(table, address, windowEnds)
    }
  }
  return { retryAfterSeconds: Math.max(1, Math.ceil((windowEnds - nowMilliseconds) / 1000)) }
}

function countInWindow(address: string, nowMilliseconds: number) {
  return {
    Key: tableKeys.signInFailures(address),
    UpdateExpression: 'SET failures = failures + :one',
    ConditionExpression: 'windowEnds > :now AND failures < :max',
    ExpressionAttributeValues: { ':one': 1, ':now': nowMilliseconds, ':max': FAILURES_MAX },
  }
}

function beginWindow(address: string, nowMilliseconds: number) {
  const windowEnds = nowMilliseconds + WINDOW_MILLISECONDS
  return {
    Key: tableKeys.signInFailures(address),
    UpdateExpression: 'SET windowEnds = :ends, failures = :one, #ttl = :ttl',
    ConditionExpression: 'attribute_not_exists(PK) OR windowEnds <= :now',
    ExpressionAttributeNames: { '#ttl': 'ttl' },
    ExpressionAttributeValues: {
      ':ends': windowEnds,
      ':one': 1,
      ':now': nowMilliseconds,
      ':ttl': Math.ceil(windowEnds / 1000),
    },
  }
}

/** A minute that is over counts nothing any more. */
function placeIn(table: Pick<Table, 'updateItem'>, address: string, windowEnds: number): SignInPlace {
  const giveBack = async () => {
    await table.updateItem({
      Key: tableKeys.signInFailures(address),
      UpdateExpression: 'SET failures = failures - :one',
      ConditionExpression: 'windowEnds = :ends AND failures > :zero',
      ExpressionAttributeValues: { ':one': 1, ':zero': 0, ':ends': windowEnds },
    })
  }
  return { giveBack }
}
