import type { Item } from './item-codec.ts'
import type { TableKey } from './table-keys.ts'

/** Index over open reservations and pending clean-ups. */
export const DUE_INDEX = 'GSI1'

/**
 * The single table, as every store uses it; docs/architecture.md ("Table") has its keys. Conflicts, throttling and outages are
 * waited out for about two seconds, so that a burst does not fail a healthy job. All methods throw ServiceUnavailableError when
 * the table stays out of reach for longer.
 */
export interface Table {
  /** Reads one item; undefined when there is none. */
  readItem(key: TableKey, options?: ReadOptions): Promise<Item | undefined>
  /**
   * Reads a few items in one request, each strongly consistent, in the order of their keys. Keys must differ.
   * @param attributes at least these and the key are read; everything without it.
   */
  readItems(keys: readonly TableKey[], attributes?: readonly string[]): Promise<(Item | undefined)[]>
  /** Reads one page of a query. @param startKey `nextKey` of the page before. */
  queryPage(query: TableQuery, startKey?: Item): Promise<ItemPage>
  /**
   * Updates one item if its condition holds. A try whose response was lost is repeated, so an update without a condition may
   * count twice, and one with a condition may be refused by its own first try.
   */
  updateItem(update: ItemUpdate, options?: RequestOptions): Promise<UpdateResult>
  /**
   * Writes all or nothing. All tries of one call share an idempotency token; conditions, never the token, protect across calls.
   * @throws ConditionsNotMetError with the names of the writes whose conditions failed; it tells whether that is final.
   * @throws ServiceUnavailableError as above. Whether the last tries wrote anything is then unknown.
   */
  transact(writes: NamedWrites, options?: TransactionOptions): Promise<void>
}

/** `isCrowded`: many processes write one of the items, so conflicts are tried sooner and more often than faults. */
type TransactionOptions = { readonly isCrowded?: boolean }

/** `isTriedOnce` is for a guess that is not worth a wait: the error of the one try is thrown as it is. */
export type RequestOptions = { readonly isTriedOnce?: boolean }

/** `mayLag` reads at half the price what may be a moment old; other reads are strongly consistent. */
export type ReadOptions = RequestOptions & { readonly mayLag?: boolean }

/** Names and values that the expressions of a request use. */
type Expressions = {
  readonly ExpressionAttributeNames?: Record<string, string>
  readonly ExpressionAttributeValues?: Record<string, unknown>
}

/** What must be true of an item for a write to happen. */
export type Condition = Expressions & { readonly ConditionExpression?: string }

/** A change of one item. */
export type ItemUpdate = Condition & { readonly Key: TableKey; readonly UpdateExpression: string }

/** The item as it is after the update; or the item that refused it, if there is one. */
type UpdateResult =
  | { readonly isWritten: true; readonly item: Item }
  | { readonly isWritten: false; readonly item: Item | undefined }

/** A query of one partition of the table, or of its index. */
export type TableQuery = Expressions & {
  readonly IndexName?: typeof DUE_INDEX
  readonly KeyConditionExpression: string
  readonly FilterExpression?: string
  readonly ProjectionExpression?: string
  readonly ConsistentRead?: boolean
  readonly ScanIndexForward?: boolean
  readonly Limit?: number
}

/** Items of a query; `nextKey` continues it, undefined at its end. */
type ItemPage = { readonly items: readonly Item[]; readonly nextKey: Item | undefined }

/** `ALL_OLD` asks for the item that refuses a write of a transaction. */
type OldItem = { readonly ReturnValuesOnConditionCheckFailure?: 'ALL_OLD' }

/** One write, or check, of a transaction. */
export type TableWrite =
  | { readonly Put: Condition & OldItem & { readonly Item: Item } }
  | { readonly Update: ItemUpdate & OldItem }
  | { readonly Delete: Condition & OldItem & { readonly Key: TableKey } }
  | { readonly ConditionCheck: ConditionCheck & OldItem }

/** A condition on an item that a transaction does not change. */
export type ConditionCheck = Expressions & { readonly Key: TableKey; readonly ConditionExpression: string }

/**
 * The writes of a transaction by names that mean something to the caller; writes that are undefined are left out. They are sent
 * in the order of the names, so no name may look like an integer, which JavaScript would move to the front. Names may be logged.
 */
export type NamedWrites = Readonly<Record<string, TableWrite | undefined>>
