import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { GetCommand, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTable, startDynamoDbEngine } from '#local/dynamodb-engine.ts'
import { createDocumentClient } from '#store/table/sdk-table.ts'
import { useTestTable } from '../engines/start-test-table.ts'
import type { TableWithClient } from '../engines/table-with-client.ts'

const directory = mkdtempSync(join(tmpdir(), 'reelgate-table-'))

const engine = useTestTable()
let table: TableWithClient
beforeAll(async () => {
  table = engine.table
})
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true })
})

function connect(endpoint: string): DynamoDBClient {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  return new DynamoDBClient({ endpoint, region: 'us-east-1', credentials, maxAttempts: 1 })
}

const put = (SK: string, more: object = {}) => ({ Put: { TableName: table.name, Item: { PK: 'a', SK }, ...more } })
const read = async (SK: string) =>
  (await table.client.send(new GetCommand({ TableName: table.name, Key: { PK: 'a', SK }, ConsistentRead: true }))).Item

describe('the DynamoDB engine', () => {
  it('keeps what was written over a restart', async () => {
    const file = join(directory, 'table.sqlite')
    for (const run of ['first', 'second']) {
      const host = await startDynamoDbEngine(file, { PATH: process.env.PATH })
      const client = connect(host.endpoint)
      await createTable('kept', client)
      const documents = createDocumentClient(client)
      if (run === 'first') {
        await documents.send(new PutCommand({ TableName: 'kept', Item: { PK: 'a', SK: 'b', n: 5 } }))
      } else {
        const { Item } = await documents.send(new GetCommand({ TableName: 'kept', Key: { PK: 'a', SK: 'b' } }))
        expect(Item).toEqual({ PK: 'a', SK: 'b', n: 5 })
      }
      client.destroy()
      await host.close()
    }
  })

  it('is gone once it is closed', async () => {
    const host = await startDynamoDbEngine(':memory:', { PATH: process.env.PATH })
    await host.close()
    await expect(fetch(host.endpoint)).rejects.toThrow()
    await host.close()
  })

  it.each(['AWS_ENDPOINT_URL_DYNAMODB', 'AWS_ENDPOINT_URL'])(
    'is the one that %s names, where it is set',
    async (name) => {
      const host = await startDynamoDbEngine('/nowhere', { [name]: 'http://127.0.0.1:9' })
      expect(host.endpoint).toBe('http://127.0.0.1:9')
      await host.close()
    },
  )

  it('writes a transaction whole or not at all, and says which condition failed', async () => {
    const isNew = { ConditionExpression: 'attribute_not_exists(PK)' }
    await table.client.send(new TransactWriteCommand({ TransactItems: [put('x', isNew)] }))
    const error = await table.client
      .send(new TransactWriteCommand({ TransactItems: [put('y', isNew), put('x', isNew)] }))
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed' }],
    })
    expect(await read('y')).toBeUndefined()
  })

  it('does a transaction with one idempotency token once', async () => {
    const add = {
      Update: {
        TableName: table.name,
        Key: { PK: 'a', SK: 'count' },
        UpdateExpression: 'ADD n :one',
        ExpressionAttributeValues: { ':one': 1 },
      },
    }
    const command = () =>
      new TransactWriteCommand({ TransactItems: [add], ClientRequestToken: 'the-token-of-this-test' })
    await table.client.send(command())
    await table.client.send(command())
    expect(await read('count')).toMatchObject({ n: 1 })
  })

  it('reads integers beyond the exact range of a double as they were written', async () => {
    await table.client.send(
      new PutCommand({ TableName: table.name, Item: { PK: 'a', SK: 'big', n: 9_007_199_254_740_993n } }),
    )
    expect(await read('big')).toMatchObject({ n: 9_007_199_254_740_993n })
  })
})

describe('what is left of the differences from DynamoDB', () => {
  it('no transaction meets a conflict here, however many write one item at once', async () => {
    const bump = {
      Update: {
        TableName: table.name,
        Key: { PK: 'a', SK: 'hot' },
        UpdateExpression: 'ADD n :one',
        ExpressionAttributeValues: { ':one': 1 },
      },
    }
    const command = () => table.client.send(new TransactWriteCommand({ TransactItems: [bump] }))
    await Promise.all(Array.from({ length: 30 }, command))
    expect(await read('hot')).toMatchObject({ n: 30 })
  })

  it('an item past its ttl stays: nothing collects it', async () => {
    await table.client.send(new PutCommand({ TableName: table.name, Item: { PK: 'a', SK: 'old', ttl: 1 } }))
    expect(await read('old')).toMatchObject({ ttl: 1 })
  })
})
