import { activeKeyCheck } from '#adapters/store/accounts/api-key-record.ts'
import type { RelayReservation, RelayResolution } from '#adapters/store/money/relay-reservation.ts'
import { ConditionsNotMetError } from '#adapters/store/table/conditions-not-met-error.ts'
import type { Table, TableWrite } from '#adapters/store/table/table.ts'
import { dueSortKey, openShard, tableKeys } from '#adapters/store/table/table-keys.ts'
import { InsufficientQuotaError, InvalidApiKeyError } from '#core/errors.ts'

const LIFETIME_MILLISECONDS = 16 * 60 * 1000

/**
 * The money of relayed requests as version 0.2.0 wrote it, one request in a transaction: an item for each open request, a row
 * for its resolution, no counters and no budgets. It runs beside the new version while a deployment lasts.
 */
export class EarlierLedger {
  readonly #table: Table
  readonly #nowMilliseconds: () => number

  constructor(table: Table, nowMilliseconds: () => number) {
    this.#table = table
    this.#nowMilliseconds = nowMilliseconds
  }

  /** @throws InvalidApiKeyError, InsufficientQuotaError, ServiceUnavailableError as version 0.2.0 did. */
  async reserve(reservation: RelayReservation): Promise<void> {
    const nowSeconds = Math.trunc(this.#nowMilliseconds() / 1000)
    try {
      await this.#table.transact({
        balance: lockFunds(reservation),
        open: putOpen(reservation),
        // Version 0.2.0 knew no revisions.
        key: { ConditionCheck: withoutRevision(activeKeyCheck({ keyDigest: reservation.keyDigest }, nowSeconds)) },
      })
    } catch (error) {
      if (error instanceof ConditionsNotMetError && error.failed.has('key')) {
        throw new InvalidApiKeyError()
      }
      throw error instanceof ConditionsNotMetError && error.failed.has('balance') ? new InsufficientQuotaError() : error
    }
  }

  /** One try, as by a process that is about to be replaced. */
  async resolve(reservation: RelayReservation, resolution: RelayResolution): Promise<'resolved' | 'already_resolved'> {
    try {
      await this.#table.transact(close(reservation, resolution, this.#nowMilliseconds()))
      return 'resolved'
    } catch (error) {
      if (error instanceof ConditionsNotMetError) {
        return 'already_resolved'
      }
      throw error
    }
  }
}

type KeyCheck = ReturnType<typeof activeKeyCheck>

function withoutRevision({ ConditionExpression, ...check }: KeyCheck): KeyCheck {
  return { ...check, ConditionExpression: ConditionExpression.replace(' AND attribute_not_exists(revision)', '') }
}

/** The move of the balance by which version 0.2.0 locked an amount. */
export function lockFunds({ tenantId, amount }: RelayReservation): TableWrite {
  return {
    Update: {
      Key: tableKeys.balance(tenantId),
      UpdateExpression: 'SET available = available - :amount, held = held + :amount',
      ConditionExpression: 'attribute_exists(PK) AND #state = :active AND available >= :amount',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: { ':amount': amount, ':active': 'active' },
    },
  }
}

/** The open request as version 0.2.0 stored it. */
export function putOpen({
  tenantId,
  requestId,
  amount,
  model,
  operation,
  keyId,
  reservedAt,
}: RelayReservation): TableWrite {
  return {
    Put: {
      Item: {
        ...tableKeys.requestReservation(tenantId, requestId),
        amount,
        model,
        operation,
        keyId,
        reservedAt,
        GSI1PK: openShard(requestId),
        GSI1SK: dueSortKey(reservedAt + LIFETIME_MILLISECONDS),
      },
      ConditionExpression: 'attribute_not_exists(PK)',
    },
  }
}

function close(
  { tenantId, requestId, amount, model, reservedAt }: RelayReservation,
  resolution: RelayResolution,
  at: number,
): Record<string, TableWrite> {
  const actual = resolution.kind === 'settle' ? resolution.actual : undefined
  const row = { kind: resolution.kind, job: requestId, amount, actual, at, reservedAt, model }
  return {
    balance: {
      Update: {
        Key: tableKeys.balance(tenantId),
        UpdateExpression: 'SET available = available + :available, held = held - :amount, spent = spent + :billed',
        ConditionExpression: 'held >= :amount',
        ExpressionAttributeValues: {
          ':available': amount - (actual ?? 0n),
          ':amount': amount,
          ':billed': actual ?? 0n,
        },
      },
    },
    open: {
      Delete: {
        Key: tableKeys.requestReservation(tenantId, requestId),
        ConditionExpression: 'attribute_exists(PK) AND amount = :amount',
        ExpressionAttributeValues: { ':amount': amount },
      },
    },
    row: {
      Put: {
        Item: { ...tableKeys.ledgerResolution(tenantId, requestId), ...row },
        ConditionExpression: 'attribute_not_exists(PK)',
      },
    },
  }
}
