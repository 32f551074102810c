import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import OpenAI from 'openai'
import { FRONT_DOOR_HEADER } from '#core/http.ts'
import { readRunningHost } from '#local/data-directory.ts'
import type { HttpServer } from '#platform/http-server/http-server.ts'
import { startOpenAiSimulator } from '../../lib/simulators/openai.ts'
import { type FrontDoor, type RelayArchive, startFrontDoor, startRelayArchive } from '../engines/relay-archive.ts'
import { startSecretsStub } from '../events/stubs.ts'
import { REPOSITORY, withoutRunner } from './child-environment.ts'
import { type Gateway, startGateway } from './start-gateway.ts'
import { eventually } from './video-client.ts'

const KEY = 'e2e-key'
const UPSTREAM_KEY = 'key-of-the-archive'
const FRONT_DOOR_SECRET = 'front-door-secret-of-this-test'
const FRONT_DOOR_ARN = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:front-door'
const CHANNEL_ARN = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:channels'

let secrets: HttpServer
let upstream: Awaited<ReturnType<typeof startOpenAiSimulator>>
let gateway: Gateway
let archive: RelayArchive
let frontDoor: FrontDoor

/** The local host serves everything else. Its own key for the upstream is refused, so that no relayed response can be its own. */
beforeAll(async () => {
  upstream = await startOpenAiSimulator({ apiKey: UPSTREAM_KEY })
  const environment = { RELAY_BASE_URL: upstream.baseUrl, RELAY_API_KEY: 'refused-key-of-the-host' }
  gateway = await startGateway({ environment })
  secrets = await startSecretsStub(
    new Map([
      [FRONT_DOOR_ARN, JSON.stringify({ current: FRONT_DOOR_SECRET })],
      [CHANNEL_ARN, JSON.stringify({ RELAY_API_KEY: UPSTREAM_KEY })],
    ]),
  )
  const host = readRunningHost(gateway.dataDirectory)
  archive = await startRelayArchive({
    configurationFile: join(gateway.dataDirectory, 'gateway.json'),
    environment: {
      AWS_ACCESS_KEY_ID: host?.credentials?.accessKeyId,
      AWS_SECRET_ACCESS_KEY: host?.credentials?.secretAccessKey,
      AWS_ENDPOINT_URL_DYNAMODB: host?.dynamoDbEndpoint,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${secrets.port}`,
      TABLE_NAME: host?.tableName,
      CHANNEL_SECRET_ARN: CHANNEL_ARN,
      FRONT_DOOR_SECRET_ARN: FRONT_DOOR_ARN,
      POWERTOOLS_SERVICE_NAME: 'reelgate',
      POWERTOOLS_METRICS_NAMESPACE: 'Reelgate',
      LOG_LEVEL: 'INFO',
    },
    headers: { [FRONT_DOOR_HEADER]: FRONT_DOOR_SECRET },
  })
  frontDoor = await startFrontDoor({ relay: archive.origin, others: gateway.url, secret: FRONT_DOOR_SECRET })
})
afterAll(async () => {
  await frontDoor.close()
  await Promise.all([archive.close(), gateway.stop(), upstream.close(), secrets.close()])
})

/** Settlements of relayed requests, by operation. */
async function settlements(): Promise<Record<string, number>> {
  const { entries } = Object(await gateway.admin('ledger', '--tenant', 'demo', '--limit', '1000'))
  const rows: { kind: string; operation: string }[] = entries
  const operations = rows.filter(({ kind }) => kind === 'settle').map(({ operation }) => operation)
  return Object.fromEntries([...new Set(operations)].map((each) => [each, operations.filter((o) => o === each).length]))
}

describe('the archive of the relay server, unpacked in a folder of its own', () => {
  it('has nothing of the repository beside it, and finds nothing for who does not come through the front door', async () => {
    expect(readdirSync(archive.directory).filter((name) => !name.endsWith('.mjs'))).toEqual([
      'cl100k_base.json',
      'gateway.json',
      'index.js',
    ])
    for (const folder of [archive.directory, join(archive.directory, '..')]) {
      expect(existsSync(join(folder, 'node_modules'))).toBe(false)
    }
    expect((await fetch(`${archive.origin}/health`)).status).toBe(404)
  })

  it('passes npm run smoke behind a front door, and settles what it relays', async () => {
    const parameters = ['bin/smoke.ts', '--base-url', frontDoor.url, '--json']
    const env = { ...withoutRunner(), REELGATE_API_KEY: KEY }
    const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: REPOSITORY, env })
    const report: { ok: boolean; steps: { name: string; verdict: string }[] } = JSON.parse(stdout)
    expect(report.steps.filter(({ verdict }) => verdict !== 'passed')).toEqual([])
    expect([report.ok, report.steps.length]).toEqual([true, 8])
    expect(frontDoor.relayed).toEqual(['GET /v1/models', 'POST /v1/chat/completions', 'POST /v1/chat/completions'])
    await eventually(settlements, (found) => found['create-chat-completion'] === 2)
  })
})

describe('the official SDK', () => {
  it('gets completions, embeddings and images of the archive, each billed once', async () => {
    const client = new OpenAI({ apiKey: KEY, baseURL: `${frontDoor.url}/v1`, maxRetries: 0 })
    const completion = await client.completions.create({ model: 'chat-default', prompt: 'Say hi', max_tokens: 5 })
    const embedding = await client.embeddings.create({ model: 'text-embedding-3-small', input: 'a' })
    const image = await client.images.generate({ model: 'image-v3', prompt: 'a paper city' })
    expect(completion.choices[0]?.text).not.toBe('')
    expect(embedding.data[0]?.embedding).toHaveLength(1536)
    expect(image.data).toHaveLength(1)
    const billed = { 'create-completion': 1, 'create-embedding': 1, 'create-image': 1 }
    expect(await eventually(settlements, (found) => found['create-image'] === 1)).toMatchObject(billed)
  })

  it('leaves a ledger in which everything adds up', async () => {
    expect(await gateway.admin('ledger', 'verify')).toMatchObject({ ok: true, broken: [] })
  })
})
