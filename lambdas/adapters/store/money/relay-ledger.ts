import { ServiceUnavailableError } from '#core/errors.ts'
import { type Clock, systemClock } from '../../clock.ts'
import { count } from '../../telemetry/count.ts'
import { logger } from '../../telemetry/logger.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { isSameResolution, type OpenRequest, type RelayReservation, type RelayResolution } from './relay-reservation.ts'
import { TenantWriter } from './tenant-writer.ts'

/**
 * How long a resolution is tried. The client has its response by then, and functions may run on this long; Reconcile gives back
 * what stays open, unbilled.
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

  /** @param options.patienceMilliseconds how long a resolution is tried; 0 for Reconcile, which comes again. */
  constructor(table: Table, { clock = systemClock, patienceMilliseconds = PATIENCE_MILLISECONDS }: LedgerOptions = {}) {
    this.#table = table
    this.#clock = clock
    this.#patienceMilliseconds = patienceMilliseconds
  }

  /**
   * Locks an estimate, in a transaction that also proves that the key is still active and unchanged. No two requests share an id.
   * @throws InvalidApiKeyError for a key that was revoked or changed or has expired, or a suspended tenant (before funds are
   * judged); nothing was locked.
   * @throws InsufficientQuotaError when the available balance is below the amount, or the tenant does not exist.
   * @throws ServiceUnavailableError when the table stayed out of reach. Reconcile gives back what may have been locked.
   * @throws ConditionsNotMetError when this request has an open reservation already.
   */
  async reserve(reservation: RelayReservation): Promise<void> {
    await this.#writerOf(reservation.tenantId).write({ kind: 'reserve', reservation })
  }

  /**
   * Bills or gives back a reservation, at most once: the first resolution stands. Contention and outages are waited out for half
   * a minute.
   * @throws ServiceUnavailableError, or any other fault of the table, after `reservation not resolved` was logged.
   */
  async resolve(reservation: OpenRequest, resolution: RelayResolution): Promise<RequestOutcome> {
    const { tenantId, requestId } = reservation
    try {
      return await this.#resolvePatiently(reservation, resolution)
    } catch (error) {
      logger.error('reservation not resolved', {
        requestId,
        tenantId,
        kind: resolution.kind,
        error: error instanceof Error ? error : undefined,
      })
      throw error
    }
  }

  async #resolvePatiently(reservation: OpenRequest, resolution: RelayResolution): Promise<RequestOutcome> {
    const at = this.#clock.nowMilliseconds()
    const giveUpAt = at + this.#patienceMilliseconds
    for (;;) {
      try {
        return await this.#resolveOnce(reservation, resolution, at)
      } catch (error) {
        if (!(error instanceof ServiceUnavailableError) || this.#clock.nowMilliseconds() >= giveUpAt) {
          throw error
        }
      }
      await this.#clock.pause(Math.random() * ROUND_PAUSE_MILLISECONDS_MAX)
    }
  }

  async #resolveOnce(reservation: OpenRequest, resolution: RelayResolution, at: number): Promise<RequestOutcome> {
    try {
      await this.#writerOf(reservation.tenantId).write({ kind: 'resolve', reservation, resolution, at })
      return 'resolved'
    } catch (error) {
      if (error instanceof ConditionsNotMetError) {
        return await this.#explainRefusal(reservation, resolution, error)
      }
      throw error
    }
  }

  async #explainRefusal(
    { tenantId, requestId }: OpenRequest,
    resolution: RelayResolution,
    error: ConditionsNotMetError,
  ): Promise<RequestOutcome> {
    const row = await this.#table.readItem(tableKeys.ledgerResolution(tenantId, requestId))
    if (row === undefined) {
      throw error
    }
    if (!isSameResolution(row, resolution)) {
      logger.error('reservation was resolved otherwise', { requestId, tenantId, kind: resolution.kind })
      count('resolution_conflict')
    }
    return 'already_resolved'
  }

  #writerOf(tenantId: string): TenantWriter {
    const writer = this.#writers.get(tenantId)
    if (writer !== undefined) {
      return writer
    }
    const made = new TenantWriter({
      table: this.#table,
      tenantId,
      nowMilliseconds: this.#clock.nowMilliseconds,
      onIdle: () => this.#writers.delete(tenantId),
    })
    this.#writers.set(tenantId, made)
    return made
  }
}

type LedgerOptions = { readonly clock?: Clock; readonly patienceMilliseconds?: number }
