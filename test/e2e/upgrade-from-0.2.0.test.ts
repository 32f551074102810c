import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDocumentClient } from '#adapters/store/table/sdk-table.ts'
import { createTable } from '#local/create-table.ts'
import { startDynamoDbEngine } from '#local/dynamodb-engine.ts'
import { EARLIER_TABLE, fillEarlierTable } from '../engines/earlier-table.ts'
import { type Gateway, startGateway } from './start-gateway.ts'
import { eventually } from './video-api.ts'

/** A data directory with the table of a host of version 0.2.0 that was killed. */
async function earlierData(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-e2e-'))
  const engine = await startDynamoDbEngine(join(directory, 'table.sqlite'), { PATH: process.env.PATH })
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const client = new DynamoDBClient({ endpoint: engine.endpoint, region: 'us-east-1', credentials })
  await createTable('reelgate', client)
  await fillEarlierTable({ client: createDocumentClient(client), name: 'reelgate' })
  client.destroy()
  await engine.close()
  return directory
}

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({ dataDirectory: await earlierData(), key: EARLIER_TABLE.demoKey })
})
afterAll(async () => {
  await gateway.stop()
})

const tenant = async (id: string) => Object(await gateway.admin('tenant', 'show', '--tenant', id))

describe('a local host over the table of version 0.2.0', () => {
  it('gives back what was open, and its ledger verifies', async () => {
    for (const id of EARLIER_TABLE.tenants) {
      // The upstream no longer knows the open video.
      await eventually(
        () => tenant(id),
        ({ held }) => held === '0',
      )
    }
    expect(await gateway.admin('ledger', 'verify')).toMatchObject({ broken: [] })
  })

  it('serves a chat and a video by the old key', async () => {
    const body = { model: 'chat-default', messages: [{ role: 'user', content: 'hello' }] }
    const chat = await gateway.api.send('POST', '/v1/chat/completions', JSON.stringify(body))
    expect(chat.status).toBe(200)
    const { json } = await gateway.api.create({ model: 'famB-1.1-t2v', prompt: 'a paper boat', duration: 3 })
    expect(await gateway.api.until(String(json.id), 'succeeded', 'failed')).toMatchObject({ status: 'succeeded' })
  })

  it('counts old settlements by a backfill, so that usage equals what was spent', async () => {
    expect(await gateway.admin('usage', 'backfill')).toMatchObject({ counted: EARLIER_TABLE.settlements })
    expect(await gateway.admin('usage', 'backfill')).toMatchObject({ counted: 0 })
    expect(await gateway.admin('ledger', 'verify')).toMatchObject({ broken: [] })
    const { spent } = await tenant('demo')
    const from = '2026-10-01'
    const shown = Object(await gateway.admin('usage', '--tenant', 'demo', '--from', from))
    expect(shown).toMatchObject({ total: { cost: spent } })
  })
})
