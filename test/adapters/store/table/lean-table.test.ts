import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { AwsConnectionError, AwsServiceError } from '#adapters/aws/aws-service-error.ts'
import type { CallAws } from '#adapters/aws/call-aws-service.ts'
import { MissingEnvironmentError } from '#adapters/environment.ts'
import { ConditionsNotMetError } from '#adapters/store/table/cancelled-transaction.ts'
import { type LeanTable, openLeanTable } from '#adapters/store/table/lean-table.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { ServiceUnavailableError } from '#core/errors.ts'
import { type RelayTable, startRelayTable } from '../money/relay-table.ts'

let engine: RelayTable
let table: Table
let lean: LeanTable
beforeAll(async () => {
  engine = await startRelayTable()
})
beforeEach(async () => {
  ;({ table, lean } = await engine.fresh())
})
afterAll(() => engine.close())

const KEY = { PK: 'a', SK: 'b' }
const RECORD = { ...KEY, text: 'ä 漢', amount: 9_007_199_254_740_993n, list: [1, 'x', null], map: { on: true } }
const isNew = { ConditionExpression: 'attribute_not_exists(PK)' }
const put = (SK: string) => ({ Put: { Item: { PK: 'a', SK }, ...isNew } })

describe('the table without the SDK', () => {
  it('writes what the SDK reads, and reads it the same', async () => {
    await lean.transact([{ Put: { Item: RECORD } }])
    const { Item } = await table.client.send(new GetCommand({ TableName: table.name, Key: KEY }))
    expect(Item).toEqual(RECORD)
    expect(await lean.getItem(KEY)).toEqual(RECORD)
    expect(await lean.getItem({ PK: 'a', SK: 'nothing' })).toBeUndefined()
  })

  it('updates, checks and deletes in one transaction', async () => {
    await lean.transact([put('b'), put('c'), put('d')])
    const names = { ExpressionAttributeNames: { '#n': 'n' }, ExpressionAttributeValues: { ':n': 5 } }
    await lean.transact([
      { Update: { Key: KEY, UpdateExpression: 'SET #n = :n', ...names } },
      { Delete: { Key: { PK: 'a', SK: 'c' } } },
      { ConditionCheck: { Key: { PK: 'a', SK: 'd' }, ConditionExpression: 'attribute_exists(PK)' } },
    ])
    expect(await lean.getItem(KEY)).toEqual({ ...KEY, n: 5 })
    expect(await lean.getItem({ PK: 'a', SK: 'c' })).toBeUndefined()
  })

  it('reads strongly consistent', async () => {
    const bodies: string[] = []
    const reading = openLeanTable({
      call: async ({ body }) => {
        bodies.push(body)
        return {}
      },
    })
    await reading.getItem(KEY)
    expect(JSON.parse(bodies[0] ?? '')).toEqual({
      TableName: table.name,
      Key: { PK: { S: 'a' }, SK: { S: 'b' } },
      ConsistentRead: true,
    })
  })

  it('says which conditions failed and what lay there instead, and has written nothing', async () => {
    await lean.transact([{ Put: { Item: { ...KEY, n: 1 } } }])
    const again = { Put: { Item: KEY, ...isNew, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const } }
    const error = await lean.transact([put('c'), again]).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ConditionsNotMetError)
    expect(error).toMatchObject({
      failed: [false, true],
      stored: [undefined, { PK: { S: 'a' }, SK: { S: 'b' }, n: { N: '1' } }],
    })
    expect(await lean.getItem({ PK: 'a', SK: 'c' })).toBeUndefined()
  })

  it('needs its name', () => {
    const name = process.env.TABLE_NAME
    delete process.env.TABLE_NAME
    expect(() => openLeanTable()).toThrow(MissingEnvironmentError)
    process.env.TABLE_NAME = name
  })
})

/** Fails so often with this, then passes. */
function failing(error: Error, times: number) {
  const tokens: string[] = []
  const pauses: number[] = []
  const call: CallAws = async ({ body }) => {
    tokens.push(JSON.parse(body).ClientRequestToken)
    if (tokens.length <= times) {
      throw error
    }
    return {}
  }
  const pause = async (milliseconds: number) => {
    pauses.push(milliseconds)
  }
  return { tokens, pauses, table: openLeanTable({ call, pause }) }
}

const cancelled = (...codes: string[]) =>
  new AwsServiceError(400, undefined, {
    __type: 'x#TransactionCanceledException',
    CancellationReasons: codes.map((Code) => ({ Code })),
  })
const named = (name: string) => new AwsServiceError(400, undefined, { __type: `x#${name}` })

describe('a transaction without the SDK', () => {
  it.each([
    ['a conflict', cancelled('None', 'TransactionConflict')],
    ['throttling', cancelled('ThrottlingError', 'None')],
    ['a conflict beside a failed condition', cancelled('ConditionalCheckFailed', 'TransactionConflict')],
    ['a transaction in progress', named('TransactionInProgressException')],
    ['throttling of the whole request', named('ThrottlingException')],
    ['a connection that broke', new AwsConnectionError('broken')],
    ['a fault of the service', new AwsServiceError(500, undefined)],
  ])('is tried again after %s, under one token', async (_, error) => {
    const { table: faulty, tokens, pauses } = failing(error, 3)
    await faulty.transact([put('b')])
    expect(tokens).toHaveLength(4)
    expect(new Set(tokens).size).toBe(1)
    expect(pauses).toHaveLength(3)
    await faulty.transact([put('b')])
    expect(new Set(tokens).size).toBe(2)
  })

  it('is given up after eight tries as unavailable, with the last cause', async () => {
    const { table: faulty, tokens } = failing(cancelled('TransactionConflict'), 100)
    const error = await faulty.transact([put('b')]).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ServiceUnavailableError)
    expect(error).toMatchObject({ cause: { name: 'TransactionCanceledException' } })
    expect(tokens).toHaveLength(8)
  })

  it.each([
    ['an invalid item', cancelled('None', 'ValidationError')],
    ['a token used for something else', named('IdempotentParameterMismatchException')],
    ['missing rights', named('AccessDeniedException')],
  ])('is not tried again after %s', async (_, error) => {
    const { table: faulty, tokens } = failing(error, 100)
    await expect(faulty.transact([put('b')])).rejects.toBe(error)
    expect(tokens).toHaveLength(1)
  })

  it('whose answer was lost has happened once', async () => {
    const fates = ['lost_after', 'lost_before', 'lost_after'] as const
    let call = 0
    engine.faults.fate = () => fates[call++] ?? 'pass'
    const add = { UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': 1 } }
    await lean.transact([{ Update: { Key: KEY, ...add } }])
    expect(await lean.getItem(KEY)).toEqual({ ...KEY, n: 1 })
    expect(engine.transactions).toHaveLength(3)
  })
})
