import {
  DynamoDBClient,
  IdempotentParameterMismatchException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { ConditionsNotMetError } from '#adapters/store/table/cancelled-transaction.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { transact } from '#adapters/store/table/transaction.ts'
import { ServiceUnavailableError } from '#core/errors.ts'
import { ConnectionLostError } from '../../../engines/break-connection.ts'

const client = DynamoDBDocumentClient.from(new DynamoDBClient({ region: 'us-east-1' }))
const mock = mockClient(client)
const table: Table = { client, name: 'reelgate' }

/** Full jitter is real time: three conflicts stay below a fifth of a second. */
const FEW = 3

beforeEach(() => {
  mock.reset()
})

function cancelled(...codes: string[]): TransactionCanceledException {
  const CancellationReasons = codes.map((Code) => ({ Code }))
  return new TransactionCanceledException({ message: 'cancelled', CancellationReasons, $metadata: {} })
}

/** Fails so often, then succeeds. */
function failFirst(error: Error, times: number): void {
  const behaviour = mock.on(TransactWriteCommand)
  for (let index = 0; index < times; index += 1) {
    behaviour.rejectsOnce(error)
  }
  behaviour.resolves({})
}

const run = () => transact(table, [{ Put: { TableName: 'reelgate', Item: { PK: 'a', SK: 'b' } } }])
const tokens = () => mock.commandCalls(TransactWriteCommand).map(({ args: [{ input }] }) => input.ClientRequestToken)

function named(name: string): Error {
  return Object.assign(new Error(name), { name, $metadata: {}, $fault: 'client' })
}

describe('transact', () => {
  it.each([
    ['a conflict', cancelled('None', 'TransactionConflict')],
    ['throttling', cancelled('ThrottlingError', 'None')],
    ['an exceeded throughput', cancelled('ProvisionedThroughputExceeded')],
    ['a conflict beside a failed condition', cancelled('ConditionalCheckFailed', 'TransactionConflict')],
    ['a transaction in progress', named('TransactionInProgressException')],
    ['throttling of the whole request', named('ThrottlingException')],
    ['a connection that broke', new ConnectionLostError('socket hang up')],
    [
      'a fault of the service',
      Object.assign(new Error(), { name: 'InternalServerError', $metadata: {}, $fault: 'server' }),
    ],
  ])('tries again after %s', async (_, error) => {
    failFirst(error, FEW)
    await run()
    expect(tokens()).toHaveLength(FEW + 1)
  })

  it('sends the same token in every try of one call, and another one in the next call', async () => {
    failFirst(cancelled('TransactionConflict'), FEW)
    await run()
    await run()
    expect(new Set(tokens().slice(0, FEW + 1)).size).toBe(1)
    expect(new Set(tokens()).size).toBe(2)
  })

  it('takes failed conditions alone as final, and says which', async () => {
    mock.on(TransactWriteCommand).rejects(cancelled('None', 'ConditionalCheckFailed', 'None', 'ConditionalCheckFailed'))
    const error = await run().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ConditionsNotMetError)
    expect(error).toMatchObject({ failed: [false, true, false, true] })
    expect(tokens()).toHaveLength(1)
  })

  it('says which condition failed once the conflict beside it is over', async () => {
    mock
      .on(TransactWriteCommand)
      .rejectsOnce(cancelled('ConditionalCheckFailed', 'TransactionConflict'))
      .rejects(cancelled('None', 'ConditionalCheckFailed'))
    await expect(run()).rejects.toMatchObject({ failed: [false, true] })
  })

  it('gives up after eight tries as unavailable, with the last cause', async () => {
    mock.on(TransactWriteCommand).rejects(cancelled('TransactionConflict'))
    const error = await run().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ServiceUnavailableError)
    expect(error).toMatchObject({ cause: { name: 'TransactionCanceledException' } })
    expect(tokens()).toHaveLength(8)
  })

  it.each([
    ['an invalid item', cancelled('None', 'ValidationError')],
    [
      'a token used for something else',
      new IdempotentParameterMismatchException({ message: 'mismatch', $metadata: {} }),
    ],
    ['a fault of the program', new TypeError('undefined is not a function')],
  ])('throws %s as it is, at once', async (_, error) => {
    mock.on(TransactWriteCommand).rejects(error)
    await expect(run()).rejects.toBe(error)
    expect(tokens()).toHaveLength(1)
  })
})
