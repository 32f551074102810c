import { describe, expect, it } from '@jest/globals'
import type { AwsCall } from '#platform/aws/call-aws-service.ts'
import { MissingEnvironmentError } from '#platform/configuration.ts'
import { openLeanTable } from '#store/table/lean-table.ts'
import { createDocumentClient, openTable } from '#store/table/sdk-table.ts'

describe('openLeanTable', () => {
  it('posts items in the wire form, under the name of the operation; expressions go as they are', async () => {
    const calls: AwsCall[] = []
    const table = openLeanTable({
      name: 'reelgate',
      call: async (call) => {
        calls.push(call)
        return {}
      },
    })
    await table.updateItem({
      Key: { PK: 'a', SK: 'b' },
      UpdateExpression: 'SET #n = :n',
      ExpressionAttributeNames: { '#n': 'n' },
      ExpressionAttributeValues: { ':n': 5n, ':unused': undefined },
    })
    expect(calls.map(({ body, ...rest }) => ({ ...rest, body: JSON.parse(body) }))).toEqual([
      {
        service: 'dynamodb',
        target: 'DynamoDB_20120810.UpdateItem',
        body: {
          TableName: 'reelgate',
          Key: { PK: { S: 'a' }, SK: { S: 'b' } },
          UpdateExpression: 'SET #n = :n',
          ExpressionAttributeNames: { '#n': 'n' },
          ExpressionAttributeValues: { ':n': { N: '5' } },
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      },
    ])
  })

  it('needs a name', () => {
    delete process.env.TABLE_NAME
    expect(() => openLeanTable()).toThrow(MissingEnvironmentError)
  })
})

describe('createDocumentClient', () => {
  it('copies nothing for a log that nobody reads', () => {
    const names = createDocumentClient().middlewareStack.identify()
    expect(names.filter((name) => name.startsWith('logger'))).toEqual([])
    // The others are there, so a name that changed would be seen.
    expect(names.some((name) => name.startsWith('retryMiddleware'))).toBe(true)
  })

  it('needs a name', () => {
    delete process.env.TABLE_NAME
    expect(() => openTable()).toThrow(MissingEnvironmentError)
  })
})
