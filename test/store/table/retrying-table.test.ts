import { beforeEach, describe, expect, it } from '@jest/globals'
import { ServiceUnavailableError } from '#core/errors.ts'
import {
  ConditionsNotMetError,
  DUE_INDEX,
  queryItems,
  queryPartition,
  type Table,
  type TableWrite,
} from '#store/table/table.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { cancellation, type Fault, openTransports, refusal } from './open-transports.ts'

const engine = useOpened(openTransports)
let table: Table

const KEY = { PK: 'a', SK: 'b' }
const isNew = {
  ConditionExpression: 'attribute_not_exists(PK)',
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
} as const
const put = (SK: string, more: object = {}): TableWrite => ({ Put: { Item: { PK: 'a', SK, ...more }, ...isNew } })
const addOne = { Key: KEY, UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': 1 } }
const caught = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: unknown) => error)
const sortKeys = (items: readonly object[]) => items.map((item) => ('SK' in item ? item.SK : undefined))
const collect = async (items: AsyncIterable<object>) => {
  const collected: object[] = []
  for await (const item of items) {
    collected.push(item)
  }
  return collected
}
const tokens = () => engine.received.map(({ input }) => input.ClientRequestToken)

describe.each(['sdk', 'lean'] as const)('the table through the %s transport', (transport) => {
  beforeEach(async () => {
    table = await engine.open(transport)
  })

  describe('reads', () => {
    it('an item as it was written, with amounts beyond the exact range of a double; undefined where there is none', async () => {
      const item = {
        ...KEY,
        text: 'ä 漢',
        amount: 9_007_199_254_740_993n,
        list: [1, 0.25, 'x', null],
        map: { on: true },
      }
      await table.transact({ item: { Put: { Item: { ...item, nothing: undefined } } } })
      expect(await table.readItem(KEY)).toEqual(item)
      expect(await table.readItem({ PK: 'a', SK: 'nothing' })).toBeUndefined()
    })

    it('strongly consistent unless the item may lag', async () => {
      await table.readItem(KEY)
      await table.readItem(KEY, { mayLag: true })
      expect(engine.received.map(({ input }) => input.ConsistentRead)).toEqual([true, false])
    })

    it('several items in one request, in the order of their keys', async () => {
      await table.transact({ one: put('1'), two: put('2', { value: 'two' }) })
      const keys = ['2', 'nothing', '1'].map((SK) => ({ PK: 'a', SK }))
      expect(await table.readItems(keys)).toEqual([{ PK: 'a', SK: '2', value: 'two' }, undefined, { PK: 'a', SK: '1' }])
      expect(engine.received.map(({ operation }) => operation)).toEqual(['TransactWriteItems', 'BatchGetItem'])
    })

    it('items that the table left out of its response by themselves, strongly consistent', async () => {
      await table.transact({ one: put('1'), two: put('2') })
      const name = Object(engine.received[0]?.input.TransactItems)[0].Put.TableName
      const UnprocessedKeys = { [name]: { Keys: [{ PK: { S: 'a' }, SK: { S: '2' } }] } }
      engine.faults.push({
        status: 200,
        body: { Responses: { [name]: [{ PK: { S: 'a' }, SK: { S: '1' } }] }, UnprocessedKeys },
      })
      const keys = ['1', '2'].map((SK) => ({ PK: 'a', SK }))
      expect(await table.readItems(keys)).toEqual(keys)
      expect(engine.received.at(-1)).toMatchObject({ operation: 'GetItem', input: { ConsistentRead: true } })
    })

    it('a query page by page, forwards and backwards', async () => {
      await table.transact(Object.fromEntries(['1', '2', '3', '4', '5'].map((SK) => [`item ${SK}`, put(SK)])))
      const query = { KeyConditionExpression: 'PK = :pk', ExpressionAttributeValues: { ':pk': 'a' }, Limit: 2 }
      const first = await table.queryPage(query)
      expect([sortKeys(first.items), first.nextKey]).toEqual([['1', '2'], { PK: 'a', SK: '2' }])
      const back = await table.queryPage({ ...query, ScanIndexForward: false }, { PK: 'a', SK: '4' })
      expect(sortKeys(back.items)).toEqual(['3', '2'])
      expect(sortKeys(await collect(queryItems(table, query)))).toEqual(['1', '2', '3', '4', '5'])
      expect(sortKeys(await collect(queryPartition(table, 'a')))).toEqual(['1', '2', '3', '4', '5'])
      expect(await table.queryPage({ ...query, ExpressionAttributeValues: { ':pk': 'none' } })).toEqual({ items: [] })
    })

    it('its index', async () => {
      await table.transact({ due: put('1', { GSI1PK: 'OPEN#0', GSI1SK: '7' }), other: put('2') })
      const query = { IndexName: DUE_INDEX, KeyConditionExpression: 'GSI1PK = :open' } as const
      const page = await table.queryPage({ ...query, ExpressionAttributeValues: { ':open': 'OPEN#0' } })
      expect(sortKeys(page.items)).toEqual(['1'])
    })
  })

  describe('updates', () => {
    it('an item without a condition, and gives the item after it', async () => {
      expect(await table.updateItem(addOne)).toEqual({ isWritten: true, item: { ...KEY, n: 1 } })
      expect(await table.updateItem(addOne)).toEqual({ isWritten: true, item: { ...KEY, n: 2 } })
    })

    it('an item whose condition holds, and gives the item that refused otherwise', async () => {
      const once = { ...addOne, ConditionExpression: 'attribute_not_exists(n)' }
      const known = { ...addOne, ConditionExpression: 'attribute_exists(PK)' }
      expect(await table.updateItem(known)).toEqual({ isWritten: false, item: undefined })
      expect(await table.updateItem(once)).toEqual({ isWritten: true, item: { ...KEY, n: 1 } })
      expect(await table.updateItem(once)).toEqual({ isWritten: false, item: { ...KEY, n: 1 } })
      expect(engine.received).toHaveLength(3)
    })
  })

  describe('writes a transaction', () => {
    it('of all kinds, in the order of the names, without those that are undefined', async () => {
      await table.transact({ b: put('b'), c: put('c'), d: put('d') })
      await table.transact({
        update: { Update: { ...addOne, ExpressionAttributeNames: { '#n': 'n' }, UpdateExpression: 'ADD #n :one' } },
        nothing: undefined,
        deletion: { Delete: { Key: { PK: 'a', SK: 'c' } } },
        check: { ConditionCheck: { Key: { PK: 'a', SK: 'd' }, ConditionExpression: 'attribute_exists(PK)' } },
      })
      expect(await table.readItem(KEY)).toEqual({ ...KEY, n: 1 })
      expect(await table.readItem({ PK: 'a', SK: 'c' })).toBeUndefined()
      const items = Object(engine.received[1]?.input.TransactItems)
      expect(items.flatMap(Object.keys)).toEqual(['Update', 'Delete', 'ConditionCheck'])
    })

    it('or nothing, and names the writes that were refused, with the items that refused them', async () => {
      await table.transact({ old: put('b', { n: 9_007_199_254_740_993n }), silent: put('s') })
      const silent: TableWrite = {
        Put: { Item: { PK: 'a', SK: 's' }, ConditionExpression: 'attribute_not_exists(PK)' },
      }
      const missing = { Key: { PK: 'a', SK: 'x' }, ConditionExpression: 'attribute_exists(PK)' }
      const writes = { fresh: put('c'), taken: put('b'), silent, missing: { ConditionCheck: missing } }
      const error = await caught(table.transact(writes))
      expect(error).toBeInstanceOf(ConditionsNotMetError)
      expect(error).toMatchObject({
        message: 'conditions not met: taken, silent, missing',
        failed: new Set(['taken', 'silent', 'missing']),
        oldItems: new Map([['taken', { ...KEY, n: 9_007_199_254_740_993n }]]),
      })
      expect(await table.readItem({ PK: 'a', SK: 'c' })).toBeUndefined()
    })

    it('once, when responses and requests are lost', async () => {
      engine.faults.push('response lost', 'request lost', 'response lost')
      await table.transact({ count: { Update: addOne } })
      expect(await table.readItem(KEY)).toEqual({ ...KEY, n: 1 })
      expect(new Set(tokens().filter((token) => token !== undefined)).size).toBe(1)
    })
  })

  const CONTENTION: readonly (readonly [string, Fault])[] = [
    ['throttling', refusal('ThrottlingException')],
    ['an exceeded throughput', refusal('ProvisionedThroughputExceededException')],
    ['a conflict with a transaction', refusal('TransactionConflictException')],
    ['a fault of the service', { status: 500, body: { __type: 'x#InternalServerError' } }],
    ['a page of a proxy that failed', { status: 503, body: [] }],
  ]

  describe('waits out', () => {
    it.each(CONTENTION)('%s, with a pause after each try', async (_, fault) => {
      const requests = [
        () => table.readItem(KEY),
        () => table.readItems([KEY]),
        () => table.queryPage({ KeyConditionExpression: 'PK = :pk', ExpressionAttributeValues: { ':pk': 'a' } }),
        () => table.updateItem(addOne),
        () => table.transact({ item: put('c') }),
      ]
      for (const request of requests) {
        engine.faults.push(fault, fault)
        await request()
      }
      expect(engine.received).toHaveLength(3 * requests.length)
      expect(engine.pauses).toHaveLength(2 * requests.length)
      expect(await table.readItem(KEY)).toEqual({ ...KEY, n: 1 })
    })

    it.each([
      ['a conflict', cancellation('None', 'TransactionConflict')],
      ['throttling of one write', cancellation('ThrottlingError', 'None')],
      ['an exceeded throughput', cancellation('ProvisionedThroughputExceeded')],
      ['a conflict beside a failed condition', cancellation('ConditionalCheckFailed', 'TransactionConflict')],
      ['a transaction in progress', refusal('TransactionInProgressException')],
    ])('%s of a transaction, under one token; the next call has another', async (_, fault) => {
      engine.faults.push(fault, fault, fault)
      await table.transact({ item: put('b') })
      expect([tokens().length, new Set(tokens()).size]).toEqual([4, 1])
      await table.transact({ item: put('c') })
      expect([tokens().length, new Set(tokens()).size]).toEqual([5, 2])
    })

    it('a conflict, and then names the condition that failed', async () => {
      engine.faults.push(cancellation('ConditionalCheckFailed', 'TransactionConflict'))
      engine.faults.push(cancellation('None', 'ConditionalCheckFailed'))
      const error = await caught(table.transact({ first: put('b'), second: put('c') }))
      expect(error).toMatchObject({ name: 'ConditionsNotMetError', failed: new Set(['second']), isFinal: true })
    })

    it.each([
      ['a lost request', 'request lost' as const],
      ['a transaction in progress', refusal('TransactionInProgressException')],
    ])('%s, and says of a condition that failed then that the earlier try may still arrive', async (_, fault) => {
      // The lean client sends a request again by itself if a connection was closed meanwhile.
      engine.faults.push(fault, fault, cancellation('ConditionalCheckFailed'))
      const error = await caught(table.transact({ first: put('b') }))
      expect(error).toMatchObject({ name: 'ConditionsNotMetError', isFinal: false })
    })

    it.each([...CONTENTION, ['lost requests', 'request lost'] as const])(
      'no more than eight tries of %s, then is unavailable, with the last cause',
      async (_, fault) => {
        engine.faults.push(...Array(20).fill(fault))
        const error = await caught(table.transact({ item: put('b') }))
        expect(error).toBeInstanceOf(ServiceUnavailableError)
        expect(Object(error).cause).toBeInstanceOf(Error)
        expect(engine.pauses).toHaveLength(8)
      },
    )

    it('nothing for what is tried once', async () => {
      engine.faults.push(refusal('ThrottlingException'), refusal('ThrottlingException'))
      const once = { isTriedOnce: true }
      expect(await caught(table.readItem(KEY, once))).toMatchObject({ name: 'ThrottlingException' })
      expect(await caught(table.updateItem(addOne, once))).toMatchObject({ name: 'ThrottlingException' })
      expect([engine.received.length, engine.pauses.length]).toEqual([2, 0])
    })
  })

  it.each([
    ['an invalid item', cancellation('None', 'ValidationError'), 'TransactionCanceledException'],
    ['a token used for something else', refusal('IdempotentParameterMismatchException'), undefined],
    ['missing rights', refusal('AccessDeniedException'), undefined],
  ])('throws %s as it is, after one try', async (_, fault, name = Object(fault).body.message) => {
    engine.faults.push(fault)
    expect(await caught(table.transact({ item: put('b') }))).toMatchObject({ name })
    expect(engine.received).toHaveLength(1)
  })
})
