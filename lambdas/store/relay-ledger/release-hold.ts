import { giveBack, giveBackToKey } from '../budget-moves.ts'
import { allOf, change, isStill } from '../table/expressions.ts'
import { ConditionsNotMetError, type NamedWrites, type Table, type TableWrite, tryTransact } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { type NamedRequest, type StoredHold, unnamedRest } from './hold.ts'
import { putRow, resolutionRow } from './relay-reservation.ts'

const rowName = ({ id }: Pick<NamedRequest, 'id'>) => `row ${id}`

/** Budgets of keys in one transaction, which takes a hundred items. */
const BUDGETS_MAX = 80

/** Versions below zero are those of a hold that is being released: its process, which does not know them, has lost it. */
const RELEASING_VERSION_MAX = -1

/**
 * Gives back all that a hold holds, unless its process wrote it meanwhile: deletes the hold, and writes a ledger row for each request
 * that it names and one for the rest. Later resolutions of its requests are refused, because the hold is gone. A hold of many
 * budgets takes several transactions; a run that ends between them is continued by the next one.
 * @returns whether this call released the hold.
 * @throws ConditionsNotMetError when the balance holds less than the hold, or a budget changed meanwhile; the next run tries again.
 * @throws ServiceUnavailableError when the balance stayed contended.
 */
export async function releaseHold(table: Table, hold: StoredHold, nowMilliseconds: number): Promise<boolean> {
  const budgets = Object.entries(hold.budgets)
  if (budgets.length > BUDGETS_MAX) {
    // Another version for each transaction, so that of two runs only one sends it.
    const version = Math.min(hold.version - 1, RELEASING_VERSION_MAX)
    const left = { ...hold, version, budgets: Object.fromEntries(budgets.slice(BUDGETS_MAX)) }
    const isWritten = await transactUnlessMoved(table, {
      hold: keepBudgets(hold, left),
      ...(await giveBackToKeys(table, budgets.slice(0, BUDGETS_MAX), nowMilliseconds)),
    })
    return isWritten && (await releaseHold(table, left, nowMilliseconds))
  }
  let named = hold.open
  for (;;) {
    try {
      return await transactUnlessMoved(table, await composeRelease(table, { ...hold, open: named }, nowMilliseconds))
    } catch (error) {
      // A request with a row cannot get another: it counts among the rest.
      const left = named.filter(
        (request) => !(error instanceof ConditionsNotMetError && error.failed.has(rowName(request))),
      )
      if (left.length === named.length) {
        throw error
      }
      named = left
    }
  }
}

async function transactUnlessMoved(table: Table, writes: NamedWrites): Promise<boolean> {
  const refusal = await tryTransact(table, writes)
  if (refusal !== undefined && !refusal.failed.has('hold')) {
    throw refusal
  }
  return refusal === undefined
}

function keepBudgets({ tenantId, holdId, version }: StoredHold, left: StoredHold): TableWrite {
  const kept = { set: { version: left.version, budgets: left.budgets } }
  return { Update: change(tableKeys.relayHold(tenantId, holdId), kept, [isStill('version', version)]) }
}

async function giveBackToKeys(
  table: Table,
  budgets: readonly (readonly [string, bigint])[],
  nowMilliseconds: number,
): Promise<NamedWrites> {
  const writes = budgets.map(async ([id, amount]) => {
    return [`budget ${id}`, await giveBackToKey(table, id, { amount, nowMilliseconds })] as const
  })
  return Object.fromEntries(await Promise.all(writes))
}

async function composeRelease(table: Table, hold: StoredHold, at: number): Promise<NamedWrites> {
  const { tenantId, holdId, version, amount, requests, renewedAt, open, budgets } = hold
  const rest = unnamedRest(hold)
  const rows = open.map(({ id: requestId, at: reservedAt, ...request }) => {
    const reservation = { tenantId, requestId, reservedAt, ...request }
    return [
      rowName({ id: requestId }),
      putRow(resolutionRow({ reservation, resolution: { kind: 'release' }, at })),
    ] as const
  })
  const ofRest = { job: holdId, amount: rest.amount, requests: rest.requests, at, reservedAt: renewedAt }
  return {
    hold: {
      Delete: {
        Key: tableKeys.relayHold(tenantId, holdId),
        ...allOf([isStill('version', version)]),
      },
    },
    balance: requests === 0 ? undefined : await giveBack(table, { tenantId, amount, nowMilliseconds: at }),
    ...(await giveBackToKeys(table, Object.entries(budgets), at)),
    ...Object.fromEntries(rows),
    rest:
      rest.requests === 0 && rest.amount === 0n
        ? undefined
        : putRow({ ...tableKeys.ledgerResolution(tenantId, holdId), kind: 'release', ...ofRest }),
  }
}
