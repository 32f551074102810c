import { isContention } from '../../platform/aws/retry-on-contention.ts'
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
export type Expressions = {
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
  readonly Select?: 'SPECIFIC_ATTRIBUTES'
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

/** Every item that a query finds, page by page. */
export async function* queryItems(table: Pick<Table, 'queryPage'>, query: TableQuery): AsyncGenerator<Item> {
  let startKey: Item | undefined
  do {
    const { items, nextKey } = await table.queryPage(query, startKey)
    yield* items
    startKey = nextKey
  } while (startKey !== undefined)
}

/**
 * The items of a query, by at most `requestsMax` requests of up to a megabyte each. `nextKey` is where it stopped; undefined at its end.
 */
export async function queryBounded(
  table: Pick<Table, 'queryPage'>,
  query: TableQuery,
  requestsMax: number,
): Promise<ItemPage> {
  const items: Item[] = []
  let nextKey: Item | undefined
  for (let request = 0; request < requestsMax; request += 1) {
    const page = await table.queryPage(query, nextKey)
    items.push(...page.items)
    nextKey = page.nextKey
    if (nextKey === undefined) {
      break
    }
  }
  return { items, nextKey }
}

/** Every item of one partition, strongly consistent. */
export function queryPartition(table: Pick<Table, 'queryPage'>, partition: string): AsyncGenerator<Item> {
  return queryItems(table, {
    KeyConditionExpression: 'PK = :pk',
    ExpressionAttributeValues: { ':pk': partition },
    ConsistentRead: true,
  })
}

/** The most items of one `readItems`. */
const BATCH_ITEMS_MAX = 100

/** Reads any number of items, a hundred at a time, each strongly consistent. Leaves out items that are not there. */
export async function* readBatches(
  table: Pick<Table, 'readItems'>,
  keys: AsyncIterable<TableKey> | Iterable<TableKey>,
): AsyncGenerator<Item[]> {
  let batch: TableKey[] = []
  const readBatch = async () => (await table.readItems(batch)).filter((item) => item !== undefined)
  for await (const key of keys) {
    batch.push(key)
    if (batch.length === BATCH_ITEMS_MAX) {
      yield await readBatch()
      batch = []
    }
  }
  if (batch.length > 0) {
    yield await readBatch()
  }
}

/**
 * Writes all or nothing, as {@link Table.transact}.
 * @returns undefined if everything was written, else the refusal.
 */
export async function tryTransact(
  table: Pick<Table, 'transact'>,
  writes: NamedWrites,
  options?: TransactionOptions,
): Promise<ConditionsNotMetError | undefined> {
  try {
    await table.transact(writes, options)
    return undefined
  } catch (error) {
    if (error instanceof ConditionsNotMetError) {
      return error
    }
    throw error
  }
}

/** An item as code uses it: strings, numbers, bigints, booleans, null, lists and maps. Undefined fields are left out. */
export type Item = Readonly<Record<string, unknown>>

type AttributeValue = Readonly<Record<string, unknown>>

/** A value, or an attribute, of a type that the table does not have. */
class UnknownAttributeError extends Error {
  override readonly name = 'UnknownAttributeError'
}

/** Writes an item in the wire's form (DynamoDB API reference, "AttributeValue"). @throws UnknownAttributeError. */
export function encodeItem(item: Item): AttributeValue {
  const encoded: Record<string, unknown> = {}
  for (const name in item) {
    const value = item[name]
    if (value !== undefined) {
      encoded[name] = encodeValue(value)
    }
  }
  return encoded
}

function encodeValue(value: unknown): AttributeValue {
  switch (typeof value) {
    case 'string':
      return { S: value }
    case 'number':
    case 'bigint':
      return { N: String(value) }
    case 'boolean':
      return { BOOL: value }
    case 'object':
      return encodeObject(value)
    default:
      throw new UnknownAttributeError(`no attribute for a ${typeof value}`)
  }
}

function encodeObject(value: object | null): AttributeValue {
  if (value === null) {
    return { NULL: true }
  }
  return Array.isArray(value) ? { L: value.map(encodeValue) } : { M: encodeItem({ ...value }) }
}

/**
 * Reads an item from the wire's form.
 * @throws UnknownAttributeError for binary values and sets, which the table does not have.
 */
export function decodeItem(encoded: unknown): Item {
  return Object.fromEntries(Object.entries(Object(encoded)).map(([name, value]) => [name, decodeValue(value)]))
}

function decodeValue(encoded: unknown): unknown {
  const [[type, value] = []] = Object.entries(Object(encoded))
  switch (type) {
    case 'S':
    case 'BOOL':
      return value
    case 'N':
      return decodeNumber(String(value))
    case 'NULL':
      return null
    case 'L':
      return Array.isArray(value) ? value.map(decodeValue) : []
    case 'M':
      return decodeItem(value)
    default:
      throw new UnknownAttributeError(`an attribute of type ${type}`)
  }
}

/** Reads a number. Amounts may exceed what a double holds exactly, so large integers become bigints. */
export function decodeNumber(digits: string): number | bigint {
  const number = Number(digits)
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(digits) ? number : BigInt(digits)
}

const CONTENTION_REASONS: ReadonlySet<string> = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
])

/** One reason of a cancelled transaction, as the SDK and the wire have it. */
type CancellationReason = { readonly Code?: string | undefined; readonly Item?: unknown }

/** Names in the message of an error: a group of writes may have ninety. */
const NAMES_SHOWN_MAX = 5

/** At least one condition of a transaction did not hold, and nothing was written. */
export class ConditionsNotMetError extends Error {
  override readonly name = 'ConditionsNotMetError'
  /** Names of the writes whose conditions did not hold, in the order of the transaction. */
  readonly failed: ReadonlySet<string>
  /** The items that refused those writes, by name; only those that exist, of writes that ask for `ALL_OLD`. */
  readonly oldItems: ReadonlyMap<string, Item>
  /** False if the outcome of an earlier try is unknown: that try may still arrive, and be written if its conditions hold by then. */
  readonly isFinal: boolean

  constructor(failed: Iterable<string>, { oldItems = new Map(), isFinal = true, ...options }: RefusalOptions = {}) {
    const names = [...failed]
    const more = names.length > NAMES_SHOWN_MAX ? ` and ${names.length - NAMES_SHOWN_MAX} more` : ''
    super(`conditions not met: ${names.slice(0, NAMES_SHOWN_MAX).join(', ')}${more}`, options)
    this.failed = new Set(names)
    this.oldItems = oldItems
    this.isFinal = isFinal
  }
}

type RefusalOptions = ErrorOptions & {
  readonly oldItems?: ReadonlyMap<string, Item>
  readonly isFinal?: boolean
}

/** Whether the table refused a request and has forgotten it; after other errors it may have been written, or may yet arrive. */
export function isRefusal(error: unknown): boolean {
  const isInProgress = error instanceof Error && error.name.startsWith('TransactionInProgress')
  const isOfClient = error instanceof Error && '$fault' in error && error.$fault === 'client'
  return cancellationReasons(error) !== undefined || (isOfClient && !isInProgress)
}

/** A conflict beside a failed condition is worth another try: the condition may have been read in the middle of that conflict. */
export function isWorthAnotherTry(error: unknown): boolean {
  const reasons = cancellationReasons(error)
  return reasons === undefined
    ? isContention(error)
    : reasons.some(({ Code }) => CONTENTION_REASONS.has(Code ?? 'None'))
}

/** Whether another transaction was at work on an item, and nothing else was wrong. */
export function isConflict(error: unknown): boolean {
  const codes = (cancellationReasons(error) ?? []).map(({ Code = 'None' }) => Code).filter((code) => code !== 'None')
  return codes.length > 0 && codes.every((code) => code === 'TransactionConflict')
}

/**
 * Turns a transaction that only its conditions cancelled into a {@link ConditionsNotMetError}; gives back any other error.
 * @param names of the writes, in the order of the transaction.
 * @param isFinal whether all earlier tries were refused too.
 */
export function explainCancellation(error: unknown, names: readonly string[], isFinal: boolean): unknown {
  const reasons = cancellationReasons(error)
  const isOnlyConditions = reasons?.every(({ Code = 'None' }) => Code === 'None' || Code === 'ConditionalCheckFailed')
  if (reasons === undefined || isOnlyConditions !== true) {
    return error
  }
  const failed: string[] = []
  const oldItems = new Map<string, Item>()
  for (const [index, { Code, Item }] of reasons.entries()) {
    const name = names[index]
    if (name !== undefined && Code === 'ConditionalCheckFailed') {
      failed.push(name)
      if (Item !== undefined) {
        oldItems.set(name, decodeItem(Item))
      }
    }
  }
  return new ConditionsNotMetError(failed, { cause: error, oldItems, isFinal })
}

/** Undefined for an error that is not a cancelled transaction. */
function cancellationReasons(error: unknown): readonly CancellationReason[] | undefined {
  if (!(error instanceof Error) || error.name !== 'TransactionCanceledException') {
    return undefined
  }
  const reasons = 'CancellationReasons' in error ? error.CancellationReasons : undefined
  return Array.isArray(reasons) ? reasons : []
}
