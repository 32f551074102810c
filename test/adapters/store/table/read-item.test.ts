import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb'
import { BatchGetCommand, DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { mockClient } from 'aws-sdk-client-mock'
import { readItems } from '#adapters/store/table/read-item.ts'
import { createDocumentClient } from '#adapters/store/table/table.ts'

const dynamo = mockClient(DynamoDBDocumentClient)
const table = { client: createDocumentClient(), name: 'table', pause: async () => {} }
const [ONE, TWO] = [
  { PK: 'p', SK: '1' },
  { PK: 'p', SK: '2' },
]

beforeEach(() => {
  dynamo.reset()
})

describe('a few items', () => {
  it('are read in one request, strongly consistent, and come in the order of their keys', async () => {
    dynamo.on(BatchGetCommand).resolves({ Responses: { table: [{ ...TWO, value: 'two' }] } })
    expect(await readItems(table, [ONE, TWO])).toEqual([undefined, { ...TWO, value: 'two' }])
    const inputs = dynamo.commandCalls(BatchGetCommand).map(({ args: [{ input }] }) => input)
    expect(inputs).toEqual([{ RequestItems: { table: { Keys: [ONE, TWO], ConsistentRead: true } } }])
    expect(dynamo.calls()).toHaveLength(1)
  })

  it('that the table left out of its answer are read by themselves, as consistent as before', async () => {
    const unread = { table: { Keys: [TWO] } }
    dynamo.on(BatchGetCommand).resolves({ Responses: { table: [ONE] }, UnprocessedKeys: unread })
    dynamo.on(GetCommand, { Key: TWO, ConsistentRead: true }).resolves({ Item: { ...TWO, value: 'two' } })
    expect(await readItems(table, [ONE, TWO])).toEqual([ONE, { ...TWO, value: 'two' }])
  })

  it('are waited for while the table throttles', async () => {
    const throttled = new DynamoDBServiceException({ name: 'ThrottlingException', $fault: 'client', $metadata: {} })
    dynamo
      .on(BatchGetCommand)
      .rejectsOnce(throttled)
      .resolves({ Responses: { table: [ONE] } })
    expect(await readItems(table, [ONE, TWO])).toEqual([ONE, undefined])
    expect(dynamo.calls()).toHaveLength(2)
  })
})
