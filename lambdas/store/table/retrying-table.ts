import { randomUUID } from 'node:crypto'
import { isContention, retryOnContention } from '../../platform/aws/retry-on-contention.ts'
import type { Clock } from '../../platform/clock.ts'
import {
  decodeItem,
  explainCancellation,
  type Item,
  type ItemUpdate,
  isConflict,
  isRefusal,
  isWorthAnotherTry,
  type NamedWrites,
  type ReadOptions,
  type RequestOptions,
  type Table,
  type TableQuery,
  type TableWrite,
} from './table.ts'
import type { TableKey } from './table-keys.ts'

type Named = { readonly TableName: string }
type KeysByTable = Readonly<Record<string, { readonly Keys?: Item[] | undefined }>>

/**
 * One try of each request that the table serves, in the words of the DynamoDB API and with items as code uses them. Errors have
 * the fields of the SDK's: `name`, `$fault`, and, in the wire's form, `Item` and `CancellationReasons`.
 */
export interface TableTransport {
  get(input: Named & { Key: TableKey; ConsistentRead: boolean }): Promise<{ Item?: Item | undefined }>
  batchGet(input: {
    RequestItems: Record<string, { Keys: TableKey[]; ConsistentRead: boolean } & Partial<Projection>>
  }): Promise<{ Responses?: Readonly<Record<string, Item[]>> | undefined; UnprocessedKeys?: KeysByTable | undefined }>
  query(
    input: Named & TableQuery & { ExclusiveStartKey: Item | undefined },
  ): Promise<{ Items?: Item[] | undefined; LastEvaluatedKey?: Item | undefined }>
  update(
    input: Named & ItemUpdate & { ReturnValues: 'ALL_NEW'; ReturnValuesOnConditionCheckFailure: 'ALL_OLD' },
  ): Promise<{ Attributes?: Item | undefined }>
  transactWrite(input: { TransactItems: NamedItem[]; ClientRequestToken: string }): Promise<unknown>
}

type WithTable<Write> = Write extends TableWrite ? { [Kind in keyof Write]: Write[Kind] & Named } : never
type NamedItem = WithTable<TableWrite>

type Projection = {
  readonly ProjectionExpression: string
  readonly ExpressionAttributeNames: Record<string, string>
}

/** The key, which tells the items of a response apart, and these attributes, any of which may be a reserved word. */
function projectionOf(attributes: readonly string[]): Projection {
  const names = ['PK', 'SK', ...attributes]
  return {
    ProjectionExpression: names.map((_, index) => `#a${index}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name, index) => [`#a${index}`, name])),
  }
}

type RetryingTableOptions = {
  readonly name: string
  /** How a contended request waits for its next try, and until when; by the system's clock when left out. */
  readonly clock?: Partial<Clock> | undefined
}

/** The table over a transport, which knows nothing of retries, names of writes or refused conditions. */
export function retryingTable(transport: TableTransport, { name: TableName, clock }: RetryingTableOptions): Table {
  const retry = <Output>(request: () => Promise<Output>, { isTriedOnce = false }: RequestOptions = {}) =>
    isTriedOnce ? request() : retryOnContention(request, { isRetryable: isContention, clock })
  const readItem = async (Key: TableKey, { mayLag = false, ...options }: ReadOptions = {}) => {
    const input = { TableName, Key, ConsistentRead: !mayLag }
    return (await retry(() => transport.get(input), options)).Item
  }
  return {
    readItem,
    async readItems(keys, attributes) {
      const projection = attributes === undefined ? {} : projectionOf(attributes)
      const RequestItems = { [TableName]: { Keys: [...keys], ConsistentRead: true, ...projection } }
      const { Responses, UnprocessedKeys } = await retry(() => transport.batchGet({ RequestItems }))
      const found = Responses?.[TableName]
      const unread = UnprocessedKeys?.[TableName]?.Keys ?? []
      // The table leaves out what it has no throughput for, and what makes its response too large.
      return await Promise.all(
        keys.map((key) =>
          found === undefined || unread.some(isAt(key)) ? readItem(key) : Promise.resolve(found.find(isAt(key))),
        ),
      )
    },
    async queryPage(query, startKey) {
      const input = { ...query, TableName, ExclusiveStartKey: startKey }
      const { Items = [], LastEvaluatedKey } = await retry(() => transport.query(input))
      return { items: Items, nextKey: LastEvaluatedKey }
    },
    async updateItem(update, options) {
      const input = { ...update, TableName, ...RETURN_ITEM }
      try {
        const { Attributes = {} } = await retry(() => transport.update(input), options)
        return { isWritten: true, item: Attributes }
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'ConditionalCheckFailedException') {
          throw error
        }
        const item = 'Item' in error && error.Item !== undefined ? decodeItem(error.Item) : undefined
        return { isWritten: false, item }
      }
    },
    async transact(writes, { isCrowded = false } = {}) {
      const { names, items } = inOrder(writes, TableName)
      const input = { TransactItems: items, ClientRequestToken: randomUUID() }
      let isFinal = true
      const send = () =>
        transport.transactWrite(input).catch((error: unknown) => {
          isFinal &&= isRefusal(error)
          throw error
        })
      try {
        await retryOnContention(send, {
          isRetryable: isWorthAnotherTry,
          ...(isCrowded ? { isCrowded: isConflict } : {}),
          clock,
        })
      } catch (error) {
        throw explainCancellation(error, names, isFinal)
      }
    },
  }
}

const RETURN_ITEM = { ReturnValues: 'ALL_NEW', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const

function isAt({ PK, SK }: TableKey): (item: Item) => boolean {
  return (item) => item.PK === PK && item.SK === SK
}

function inOrder(writes: NamedWrites, TableName: string): { names: string[]; items: NamedItem[] } {
  const present = Object.entries(writes).flatMap(([name, write]) => (write === undefined ? [] : [{ name, write }]))
  return { names: present.map(({ name }) => name), items: present.map(({ write }) => withTable(write, TableName)) }
}

function withTable(write: TableWrite, TableName: string): NamedItem {
  const [kind, part] = Object.entries(write)[0] ?? []
  return { [String(kind)]: { ...part, TableName } } as NamedItem
}
