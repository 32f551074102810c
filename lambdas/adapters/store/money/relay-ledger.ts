import { ServiceUnavailableError } from '#core/errors.ts'
import { type Clock, systemClock } from '../../clock.ts'
import { count } from '../../telemetry/count.ts'
import { logger } from '../../telemetry/logger.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import type { Order } from './group-transaction.ts'
import { ReservationReleasedError } from './group-writer.ts'
import { isSameResolution, type RelayReservation, type RelayResolution } from './relay-reservation.ts'
import { TenantWriter } from './tenant-writer.ts'

/**
 * How long a resolution is tried. The client has its response by then, and functions may run on this long. After that it goes with
 * the next group of its tenant; if there is none, Reconcile gives the reservation back, unbilled.
 */
const PATIENCE_MILLISECONDS = 30_000

/** Full jitter below this between two rounds of tries, each of which backs off by itself. */
const ROUND_PAUSE_MILLISECONDS_MAX = 1_000

/** The result of resolving a request. `already_resolved` kept an earlier resolution, the same or another. */
export type RequestOutcome = 'resolved' | 'already_resolved'

/** The money of relayed requests. A process has one ledger, which writes one transaction at a time for each tenant. */
export class RelayLedger {
  readonly #table: Table
  readonly #clock: Clock
  readonly #patienceMilliseconds: number
  readonly #writers = new Map<string, TenantWriter>()

  /** @param options.patienceMilliseconds how long a resolution is tried. */
  constructor(table: Table, { clock = systemClock, patienceMilliseconds = PATIENCE_MILLISECONDS }: LedgerOptions = {}) {
    this.#table = table
    this.#clock = clock
    this.#patienceMilliseconds = patienceMilliseconds
  }

  /**
   * Locks an estimate, in a transaction that also proves that the key is still active and unchanged. No two requests share an id.
   * @throws InvalidApiKeyError for a key that was revoked or changed or has expired, or a suspended tenant (before funds are
   * judged); nothing was locked.
   * @throws BudgetExceededError when the budget of the key, or then of the tenant, has less left than the amount.
   * @throws InsufficientQuotaError when the available balance is below the amount, or the tenant does not exist.
   * @throws ServiceUnavailableError when the table stayed out of reach. What may have been locked is given back with the tenant's next
   * group, or by Reconcile.
   * @throws ConditionsNotMetError when this request has an open reservation already.
   */
  async reserve(reservation: RelayReservation): Promise<void> {
    await this.#writerOf(reservation.tenantId).write({ kind: 'reserve', reservation })
  }

  /**
   * Bills or gives back a reservation of this ledger, at most once: the first resolution stands. Contention and outages are waited out
   * for half a minute.
   * @throws ServiceUnavailableError, or any other fault of the table, after `reservation not resolved` was logged. The resolution then
   * goes with the tenant's next group, so that a request is billed as long as its process lives.
   */
  async resolve(reservation: RelayReservation, resolution: RelayResolution): Promise<RequestOutcome> {
    const order: Resolving = { kind: 'resolve', reservation, resolution }
    try {
      return await this.#resolvePatiently(order)
    } catch (error) {
      logger.error('reservation not resolved', { ...factsOf(order), error: error instanceof Error ? error : undefined })
      // After any other refusal nothing is open any more.
      if (!(error instanceof ConditionsNotMetError)) {
        void this.#resolveWithNext(order)
      }
      throw error
    }
  }

  async #resolvePatiently(order: Resolving): Promise<RequestOutcome> {
    const giveUpAt = this.#clock.nowMilliseconds() + this.#patienceMilliseconds
    for (;;) {
      try {
        await this.#writerOf(order.reservation.tenantId).write(order)
        return 'resolved'
      } catch (error) {
        if (!(error instanceof ServiceUnavailableError)) {
          return await this.#explainRefusal(order, error)
        }
        if (this.#clock.nowMilliseconds() >= giveUpAt) {
          throw error
        }
      }
      await this.#clock.pause(Math.random() * ROUND_PAUSE_MILLISECONDS_MAX)
    }
  }

  /** Never rejects. */
  async #resolveWithNext(order: Resolving): Promise<void> {
    try {
      await this.#writerOf(order.reservation.tenantId).writeWithNext(order)
      logger.warn('reservation resolved late', factsOf(order))
    } catch (refusal) {
      await this.#explainRefusal(order, refusal).catch((error: unknown) => {
        logger.error('reservation not resolved', {
          ...factsOf(order),
          error: error instanceof Error ? error : undefined,
        })
      })
    }
  }

  async #explainRefusal(order: Resolving, error: unknown): Promise<RequestOutcome> {
    const isReleased = error instanceof ReservationReleasedError
    if (!isReleased && !(error instanceof ConditionsNotMetError)) {
      throw error
    }
    const { reservation, resolution } = order
    const row = await this.#table.readItem(tableKeys.ledgerResolution(reservation.tenantId, reservation.requestId))
    if (row === undefined && !isReleased) {
      throw error
    }
    // Reconcile writes one row for all requests that a hold does not name.
    const isSame = row === undefined ? resolution.kind === 'release' : isSameResolution(row, resolution)
    if (!isSame) {
      logger.error('reservation was resolved otherwise', factsOf(order))
      count('resolution_conflict')
    }
    return 'already_resolved'
  }

  #writerOf(tenantId: string): TenantWriter {
    const writer = this.#writers.get(tenantId)
    if (writer !== undefined) {
      return writer
    }
    this.#disposeWriters()
    const made = new TenantWriter({ table: this.#table, tenantId, clock: this.#clock })
    this.#writers.set(tenantId, made)
    return made
  }

  /** Keeps the map as small as the number of tenants that were busy lately. */
  #disposeWriters(): void {
    for (const [tenantId, writer] of this.#writers) {
      if (writer.isDisposable) {
        this.#writers.delete(tenantId)
      }
    }
  }
}

type LedgerOptions = { readonly clock?: Clock; readonly patienceMilliseconds?: number }

type Resolving = Order & { readonly kind: 'resolve' }

function factsOf({ reservation: { requestId, tenantId }, resolution: { kind } }: Resolving) {
  return { requestId, tenantId, kind }
}
