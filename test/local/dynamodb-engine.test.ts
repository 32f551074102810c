import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { GetCommand, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  createTable,
  findFreePort,
  findHiddenAddress,
  type LoopbackAddress,
  startDynamoDbEngine,
} from '#local/dynamodb-engine.ts'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import { createDocumentClient } from '#store/table/sdk-table.ts'
import type { TableWithClient } from '../engines/test-table.ts'
import { useTestTable } from '../engines/use-test-table.ts'

describe('dynamodb engine', () => {
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
    (await table.client.send(new GetCommand({ TableName: table.name, Key: { PK: 'a', SK }, ConsistentRead: true })))
      .Item

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
})

describe('the start of the DynamoDB engine', () => {
  /** Addresses that are given out before free ones. */
  const nextAddresses: LoopbackAddress[] = []
  const nextAddress = async () => nextAddresses.shift() ?? (await findHiddenAddress())

  const directory = mkdtempSync(join(tmpdir(), 'reelgate-table-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  const environment = { PATH: process.env.PATH }

  function connect(endpoint: string) {
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
    const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials, maxAttempts: 1 })
    const documents = createDocumentClient(client)
    return {
      client,
      put: (SK: string) => documents.send(new PutCommand({ TableName: 'kept', Item: { PK: 'a', SK } })),
      has: async (SK: string) => {
        const { Item } = await documents.send(new GetCommand({ TableName: 'kept', Key: { PK: 'a', SK } }))
        return Item !== undefined
      },
    }
  }

  /** Somebody else, who answers everything. */
  async function takenPort(): Promise<HttpServer> {
    const other = await listen((_, response) => response.end('{}'), 0)
    nextAddresses.push({ host: '127.0.0.1', port: other.port })
    return other
  }

  it('loses nothing while the engine of a killed host still has the table open', async () => {
    const file = join(directory, 'left.sqlite')
    const left = await startDynamoDbEngine(file, environment)
    const before = connect(left.endpoint)
    await createTable('kept', before.client)
    await before.put('before')

    const next = await startDynamoDbEngine(file, environment)
    const after = connect(next.endpoint)
    await Promise.all([before.put('meanwhile'), after.put('after')])
    await left.close()
    expect(await Promise.all(['before', 'meanwhile', 'after'].map(after.has))).toEqual([true, true, true])
    before.client.destroy()
    after.client.destroy()
    await next.close()
  })

  it('goes on to another port when somebody has taken the first, and never takes their answers for its own', async () => {
    const others = [await takenPort(), await takenPort()]
    const engine = await startDynamoDbEngine(join(directory, 'port.sqlite'), environment, nextAddress)
    expect(others.map(({ port }) => `http://127.0.0.1:${port}`)).not.toContain(engine.endpoint)
    const { client } = connect(engine.endpoint)
    await createTable('kept', client)
    client.destroy()
    await engine.close()
    await Promise.all(others.map((other) => other.close()))
  })

  it('is at another address each time, which no page of a browser finds', async () => {
    const engines = [
      await startDynamoDbEngine(':memory:', environment),
      await startDynamoDbEngine(':memory:', environment),
    ]
    const hosts = engines.map(({ endpoint }) => new URL(endpoint).hostname)
    expect(hosts[0]).toMatch(/^127\.[1-9]/)
    expect(hosts[0]).not.toBe(hosts[1])
    await Promise.all(engines.map((engine) => engine.close()))
  })

  it('says which table it could not open, and why, in one sentence', async () => {
    const file = join(directory, 'broken.sqlite')
    writeFileSync(file, 'no table, and long enough to be read as the head of one: '.repeat(10))
    const started = startDynamoDbEngine(file, environment)
    await expect(started).rejects.toMatchObject({
      name: 'OperatorError',
      message: expect.stringMatching(
        /^the DynamoDB engine did not start over .*broken\.sqlite: error: Database file.*$/,
      ),
    })
  })
})

/** For documentation (RFC 5737): no machine has it. */
const NOWHERE = '192.0.2.1'

describe('findHiddenAddress', () => {
  it('finds an address of loopback that a server can listen on, another one each time', async () => {
    const [first, second] = [await findHiddenAddress(), await findHiddenAddress()]
    const server = await listen((_request, response) => void response.end('here'), first)
    const response = await fetch(`http://${first.host}:${first.port}`)
    expect(await response.text()).toBe('here')
    expect(first.host).toMatch(/^127\.[1-9]\d{0,2}\.\d{1,3}\.[1-9]\d{0,2}$/)
    expect(first.host).not.toBe(second.host)
    await server.close()
  })

  it('is a port of 127.0.0.1 on a machine that has no other address of loopback', async () => {
    const { host, port } = await findHiddenAddress(() => NOWHERE)
    expect(host).toBe('127.0.0.1')
    expect(port).toBeGreaterThan(0)
  })
})

describe('findFreePort', () => {
  it('is a port that a server can listen on', async () => {
    const port = await findFreePort()
    const server = await listen((_request, response) => void response.end(), port)
    expect(server.port).toBe(port)
    await server.close()
  })
})
