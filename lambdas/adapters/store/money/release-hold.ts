import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Item } from '../table/item-codec.ts'
import type { NamedWrites, Table, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { giveBack } from './earlier-reservation.ts'
import { type NamedRequest, type StoredHold, unnamedRest } from './hold-item.ts'

const rowName = ({ id }: NamedRequest) => `row ${id}`

/**
 * Gives back all that a hold holds, unless its process wrote it meanwhile: deletes the hold, and writes a ledger row for each request
 * that it names and one for the rest. Later resolutions of its requests are refused, because the hold is gone.
 * @returns whether this call released the hold.
 * @throws ConditionsNotMetError when the balance holds less than the hold; ServiceUnavailableError when it stayed contended.
 */
export async function releaseHold(table: Table, hold: StoredHold, nowMilliseconds: number): Promise<boolean> {
  let named = hold.open
  for (;;) {
    try {
      await table.transact(composeRelease({ ...hold, open: named }, nowMilliseconds))
      return true
    } catch (error) {
      if (!(error instanceof ConditionsNotMetError)) {
        throw error
      }
      if (error.failed.has('hold')) {
        return false
      }
      // A request with a row cannot get another: it counts among the rest.
      const left = named.filter((request) => !error.failed.has(rowName(request)))
      if (left.length === named.length) {
        throw error
      }
      named = left
    }
  }
}

function composeRelease(hold: StoredHold, at: number): NamedWrites {
  const { tenantId, holdId, version, amount, requests, renewedAt, open } = hold
  const isEmpty = requests === 0 && amount === 0n
  const rest = unnamedRest(hold)
  const rows = open.map((request) => [rowName(request), putRow(releaseRow(tenantId, request, at))] as const)
  const ofRest = { job: holdId, amount: rest.amount, requests: rest.requests, at, reservedAt: renewedAt }
  return {
    hold: {
      Delete: {
        Key: tableKeys.relayHold(tenantId, holdId),
        ConditionExpression: 'version = :version',
        ExpressionAttributeValues: { ':version': version },
      },
    },
    balance: isEmpty ? undefined : giveBack(tenantId, amount),
    ...Object.fromEntries(rows),
    rest:
      rest.requests === 0 && rest.amount === 0n
        ? undefined
        : putRow({ ...tableKeys.ledgerResolution(tenantId, holdId), kind: 'release', ...ofRest }),
  }
}

function releaseRow(tenantId: string, request: NamedRequest, at: number): Item {
  const { id, amount, at: reservedAt, model, operation, keyId } = request
  return {
    ...tableKeys.ledgerResolution(tenantId, id),
    kind: 'release',
    job: id,
    amount,
    at,
    reservedAt,
    model,
    operation,
    keyId,
  }
}

function putRow(row: Item): TableWrite {
  return { Put: { Item: row, ConditionExpression: 'attribute_not_exists(PK)' } }
}
