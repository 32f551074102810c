import { ConditionalCheckFailedException, DynamoDBClient, TransactionConflictException } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { conditionalUpdate } from '#adapters/store/table/conditional-update.ts'
import { ServiceUnavailableError } from '#core/errors.ts'

const client = DynamoDBDocumentClient.from(new DynamoDBClient({ region: 'us-east-1' }))
const mock = mockClient(client)
beforeEach(() => {
  mock.reset()
})

const run = () =>
  conditionalUpdate({ client, name: 'reelgate' }, { Key: { PK: 'a', SK: 'b' }, UpdateExpression: 'SET a = :a' })
const calls = () => mock.commandCalls(UpdateCommand).length

const conflict = new TransactionConflictException({ message: 'in a transaction', $metadata: {} })

describe('conditionalUpdate', () => {
  it('answers the item after the update', async () => {
    mock.on(UpdateCommand).resolves({ Attributes: { PK: 'a', a: 1 } })
    expect(await run()).toEqual({ PK: 'a', a: 1 })
  })

  it('answers undefined when the condition did not hold, after one try', async () => {
    mock.on(UpdateCommand).rejects(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }))
    expect(await run()).toBeUndefined()
    expect(calls()).toBe(1)
  })

  it('tries again while the item is part of an open transaction', async () => {
    mock
      .on(UpdateCommand)
      .rejectsOnce(conflict)
      .rejectsOnce(conflict)
      .resolves({ Attributes: { PK: 'a' } })
    expect(await run()).toEqual({ PK: 'a' })
    expect(calls()).toBe(3)
  })

  it('gives up after eight tries as unavailable', async () => {
    mock.on(UpdateCommand).rejects(conflict)
    await expect(run()).rejects.toBeInstanceOf(ServiceUnavailableError)
    expect(calls()).toBe(8)
  })

  it('throws every other error as it is', async () => {
    const error = Object.assign(new Error('bad expression'), {
      name: 'ValidationException',
      $metadata: {},
      $fault: 'client',
    })
    mock.on(UpdateCommand).rejects(error)
    await expect(run()).rejects.toBe(error)
    expect(calls()).toBe(1)
  })
})
