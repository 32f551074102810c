import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, describe, expect, it } from 'vitest'
import type { HttpServer } from '#adapters/http-server/http-server.ts'
import { listen } from '#adapters/http-server/http-server.ts'
import { createTable, findHiddenAddress, type LoopbackAddress, startDynamoDbEngine } from '#local/dynamodb-engine.ts'
import { createDocumentClient } from '#store/table/sdk-table.ts'

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

describe('the start of the DynamoDB engine', () => {
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
      name: 'NoDynamoDbEngineError',
      message: expect.stringMatching(
        /^the DynamoDB engine did not start over .*broken\.sqlite: error: Database file.*$/,
      ),
    })
  })
})
