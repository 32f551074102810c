import { InvalidApiKeyError } from '#core/errors.ts'
import { type Clock, systemClock } from '../../clock.ts'
import { RecentValues } from '../../recent-values.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { type ApiKeyRecord, type Caller, callerOf, readApiKeyRecord } from './api-key-record.ts'
import { SharedReads } from './shared-reads.ts'

/** A caller. One that is not confirmed comes from a record of up to a minute ago: the key must be proved before anything happens. */
export type FoundCaller = { readonly caller: Caller; readonly isConfirmed: boolean }

/** How long a record may be used: a reservation proves the key again, and so does `confirm`. */
const RECORD_MILLISECONDS_MAX = 60_000

/** Keys that are remembered, about a megabyte. */
const RECORDS_MAX = 5_000

type Kept = { readonly record: ApiKeyRecord; readonly readAt: number }

/**
 * Finds the caller of an API key. Code that uses a caller that is not confirmed proves the key before anything else happens:
 * by a reservation, whose transaction checks the key, or by {@link confirm}. So a revoked key is refused at its next request.
 */
export class CallerDirectory {
  readonly #clock: Pick<Clock, 'nowMilliseconds'>
  readonly #records = new RecentValues<Kept>(RECORDS_MAX)
  readonly #reads: SharedReads<Caller | undefined>

  constructor(table: Pick<Table, 'readItem'>, clock: Pick<Clock, 'nowMilliseconds'> = systemClock) {
    this.#clock = clock
    this.#reads = new SharedReads((keyDigest) => this.#read(table, keyDigest))
  }

  /**
   * The caller of a key, from memory if the key was read in the last minute. Undefined, after a fresh read, for a key that is
   * unknown, revoked, suspended or expired.
   * @throws ServiceUnavailableError when the table stays out of reach.
   */
  async lookUp(keyDigest: string): Promise<FoundCaller | undefined> {
    const kept = this.#keptCaller(keyDigest)
    if (kept !== undefined) {
      return { caller: kept, isConfirmed: false }
    }
    const caller = await this.#reads.read(keyDigest)
    return caller === undefined ? undefined : { caller, isConfirmed: true }
  }

  /**
   * Proves that a key may be used now, by a strongly consistent read that begins after this call.
   * @throws InvalidApiKeyError when it may not be used. @throws ServiceUnavailableError when the table stays out of reach.
   */
  async confirm(keyDigest: string): Promise<Caller> {
    const caller = await this.#reads.read(keyDigest)
    if (caller === undefined) {
      throw new InvalidApiKeyError()
    }
    return caller
  }

  /** Forgets a key that a reservation found revoked, so that its next request reads it. */
  forget(keyDigest: string): void {
    this.#records.delete(keyDigest)
  }

  #keptCaller(keyDigest: string): Caller | undefined {
    const kept = this.#records.get(keyDigest)
    const now = this.#clock.nowMilliseconds()
    const isFresh = kept !== undefined && now - kept.readAt < RECORD_MILLISECONDS_MAX
    return isFresh ? callerOf(kept.record, now / 1000) : undefined
  }

  async #read(table: Pick<Table, 'readItem'>, keyDigest: string): Promise<Caller | undefined> {
    const readAt = this.#clock.nowMilliseconds()
    const item = await table.readItem(tableKeys.apiKey(keyDigest))
    const record = item === undefined ? undefined : readApiKeyRecord(item, keyDigest)
    const caller = record === undefined ? undefined : callerOf(record, this.#clock.nowMilliseconds() / 1000)
    if (record === undefined || caller === undefined) {
      this.#records.delete(keyDigest)
    } else {
      this.#records.set(keyDigest, { record, readAt })
    }
    return caller
  }
}
