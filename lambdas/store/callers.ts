import * as z from 'zod/mini'
import { PERIOD_KINDS, type PeriodKind } from '#core/budgets.ts'
import { refusedKey } from '#core/refused-key.ts'
import { RecentValues } from '../platform/cache.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { allOf, isStill } from './table/expressions.ts'
import type { ConditionCheck, Table } from './table/table.ts'
import { tableKeys } from './table/table-keys.ts'

/** Who calls: the tenant, and what the key may do. */
export type Caller = {
  readonly tenantId: string
  readonly keyId: string
  readonly keyDigest: string
  /** Counts the changes of the key; undefined for a key that was never changed. */
  readonly revision?: number | undefined
  /** Models the key may use; null for all. */
  readonly models: readonly string[] | null
  /** Requests that the key may send in a minute; undefined for no limit. */
  readonly ratePerMinute?: number | undefined
  /** The budget in which the requests of the key count; undefined without one. */
  readonly budget?: BudgetOfKey | undefined
  /** What the rule of its issuer allows the subject, as text; undefined for an API key. */
  readonly ruleLimits?: string | undefined
  /** When the table forgets the subject, in Unix seconds; undefined for an API key. */
  readonly ttl?: number | undefined
}

/** Names the budget of a key, which its successors share. `kind` may be out of date: another of these keys may have changed it. */
export type BudgetOfKey = { readonly id: string; readonly kind: PeriodKind }

/** How items name the budget in which a key, or a request of it, counts. */
export const budgetAttributes = { budgetId: z.optional(z.string()), budgetPeriod: z.optional(z.enum(PERIOD_KINDS)) }

/** Reads {@link budgetAttributes}; undefined without a budget. */
export function namedBudget(item: BudgetAttributes): BudgetOfKey | undefined {
  return item.budgetId === undefined ? undefined : { id: item.budgetId, kind: item.budgetPeriod ?? 'total' }
}

/** Writes {@link budgetAttributes}; none without a budget. */
export function nameBudget(budget: BudgetOfKey | null | undefined): BudgetAttributes {
  return budget == null ? {} : { budgetId: budget.id, budgetPeriod: budget.kind }
}

type BudgetAttributes = {
  readonly budgetId?: string | undefined
  readonly budgetPeriod?: PeriodKind | undefined
}

/** What is stored of an API key. */
type ApiKeyRecord = {
  readonly caller: Caller
  readonly state: 'active' | 'revoked'
  /** Whether its tenant is suspended. */
  readonly suspended: boolean
  /** Unix seconds; undefined for a key that does not expire. */
  readonly expiresAt: number | undefined
}

const apiKeyItem = z.object({
  tenantId: z.string(),
  keyId: z.string(),
  state: z.enum(['active', 'revoked']),
  models: z.nullable(z.array(z.string())),
  expiresAt: z.optional(z.number()),
  ratePerMinute: z.optional(z.number()),
  suspended: z._default(z.boolean(), false),
  revision: z.optional(z.number()),
  ruleLimits: z.optional(z.string()),
  ttl: z.optional(z.number()),
  ...budgetAttributes,
})

/** Reads a stored key. @throws ZodError for an item that this service did not write. */
export function readApiKeyRecord(item: unknown, keyDigest: string): ApiKeyRecord {
  const { state, suspended, expiresAt, ...named } = apiKeyItem.parse(item)
  const { tenantId, keyId, revision, models, ratePerMinute, ruleLimits, ttl } = named
  const limits = { models, ratePerMinute, ruleLimits, ttl, budget: namedBudget(named) }
  const caller = { tenantId, keyId, keyDigest, revision, ...limits }
  return { caller, state, suspended, expiresAt }
}

/** The caller of a key that may be used at this time; undefined for a key that is revoked, suspended or expired. */
export function callerOf(
  { caller, state, suspended, expiresAt }: ApiKeyRecord,
  nowSeconds: number,
): Caller | undefined {
  const isUsable = state === 'active' && !suspended
  return isUsable && (expiresAt === undefined || expiresAt > nowSeconds) ? caller : undefined
}

/** The caller of a key's item in the table; undefined for a key that is unknown, revoked, suspended or expired. */
export function readCaller(
  item: unknown,
  { keyDigest, nowSeconds }: { keyDigest: string; nowSeconds: number },
): Caller | undefined {
  return item === undefined ? undefined : callerOf(readApiKeyRecord(item, keyDigest), nowSeconds)
}

/**
 * Finds the caller of an API key by a strongly consistent read, so that a revoked key is refused at its next request.
 * Undefined for a key that is unknown, revoked, suspended or expired.
 */
export async function findCaller(table: Table, keyDigest: string, nowSeconds: number): Promise<Caller | undefined> {
  return readCaller(await table.readItem(tableKeys.apiKey(keyDigest)), { keyDigest, nowSeconds })
}

/** A key as a request read it. */
type KeyRead = Pick<Caller, 'keyDigest' | 'revision'>

/**
 * The same rule as {@link callerOf}, as a condition: a transaction that locks funds fails with a key that has been revoked, suspended or
 * changed, or has expired, since it was read.
 */
export function activeKeyCheck({ keyDigest, revision }: KeyRead, nowSeconds: number): ConditionCheck {
  const keyIsActive = '#state = :active'
  const tenantIsNotSuspended = 'attribute_not_exists(suspended)'
  const keyHasNotExpired = '(attribute_not_exists(expiresAt) OR expiresAt > :now)'
  const keyHasNotChanged = isStill('revision', revision)
  return {
    Key: tableKeys.apiKey(keyDigest),
    ...allOf([keyIsActive, tenantIsNotSuspended, keyHasNotExpired, keyHasNotChanged], {
      ':active': 'active',
      ':now': nowSeconds,
    }),
  }
}

/** A read under way, and the read that begins when it ends, if anything waits for one. */
type Line<Value> = { readonly running: Promise<void>; next: Promise<Value> | undefined }

/**
 * Lets requests for the same thing share a read that begins after they arrive. A read already under way may have seen an older
 * state, so a request that arrives during it waits for the next read, together with all that arrive meanwhile.
 */
export class SharedReads<Value> {
  readonly #read: (key: string) => Promise<Value>
  readonly #lines = new Map<string, Line<Value>>()

  constructor(read: (key: string) => Promise<Value>) {
    this.#read = read
  }

  /** Reads each key at most once at a time. @throws what the read throws. */
  read(key: string): Promise<Value> {
    const line = this.#lines.get(key)
    if (line === undefined) {
      return this.#begin(key)
    }
    line.next ??= line.running.then(() => this.#begin(key))
    return line.next
  }

  #begin(key: string): Promise<Value> {
    const value = this.#read(key)
    const line: Line<Value> = { running: value.then(ignore, ignore), next: undefined }
    this.#lines.set(key, line)
    void line.running.then(() => {
      if (line.next === undefined && this.#lines.get(key) === line) {
        this.#lines.delete(key)
      }
    })
    return value
  }
}

function ignore(): void {}

/** A caller. One that is not confirmed comes from a record of up to a minute ago: the key must be proved before anything happens. */
type FoundCaller = { readonly caller: Caller; readonly isConfirmed: boolean }

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
      throw refusedKey(keyDigest)
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
