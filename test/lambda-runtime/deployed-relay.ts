import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Template } from 'aws-cdk-lib/assertions'
import { keyIdOf } from '#core/api-key.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { formatCredits, parseCredits } from '#core/money.ts'
import { type LedgerRow, readLedgerRows } from '#lambdas/admin/read-ledger.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { bundleHandler } from '#stack/bundle-handler.ts'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { writeTokenizerRanks } from '../../lib/config/tokenizer-ranks.ts'
import { relayConfig, startRelayUpstream } from '../engines/relay-rig.ts'
import { startTestTable, type TestTable } from '../engines/test-table.ts'
import { reserveJob, TESTER } from '../engines/video-jobs.ts'
import { apiEvent } from '../middleware/api-exchange.ts'
import { createStack, folderOf, resourcesOf } from '../stack/synthesize-stack.ts'
import type { PlatformReader } from './runtime-api.ts'
import { type FunctionProcess, type Invoked, startFunction } from './start-function.ts'

/** The paths of the routes that stream, by operation. */
const PATHS = {
  'create-chat-completion': '/v1/chat/completions',
  'create-completion': '/v1/completions',
  'create-embedding': '/v1/embeddings',
  'create-image': '/v1/images/generations',
  'get-video-events': '/v1/video/generations/{job_id}/events',
} as const

type StreamingOperation = keyof typeof PATHS

export type RelayedOperation = Exclude<StreamingOperation, 'get-video-events'>

type Sent = PlatformReader & { readonly key?: string }

/** The streaming functions, bundled and set up as the stack has them, each on Lambda's runtime client, over the local table. */
export type DeployedRelay = Awaited<ReturnType<typeof startDeployedRelay>>

/** Starts a table, an upstream that a test scripts, and a function process for each operation when it is first called. */
export async function startDeployedRelay() {
  const [engine, upstream] = await Promise.all([startTestTable(), startRelayUpstream()])
  const root = mkdtempSync(join(tmpdir(), 'reelgate-runtime-'))
  const config = relayConfig([upstream])
  const properties = functionProperties(config)
  const processes = new Map<StreamingOperation, Promise<FunctionProcess>>()
  const processOf = (operation: StreamingOperation): Promise<FunctionProcess> => {
    const running = processes.get(operation) ?? startRelayed({ operation, root, config, engine }, properties)
    processes.set(operation, running)
    return running
  }
  const { table } = engine
  return {
    upstream,
    tenant: async () => {
      const [id, key] = [crypto.randomUUID(), generateApiKey()]
      await makeTenant(table, { id, name: 'Relay', credits: parseCredits('1') }, TESTER)
      await storeApiKey(table, { key, tenantId: id, models: null }, TESTER)
      return { id, key }
    },
    send: async (operation: RelayedOperation, body: unknown, { key, ...reader }: Sent = {}): Promise<Invoked> => {
      const event = apiEvent({
        path: PATHS[operation],
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
      })
      return await (await processOf(operation)).invoke(event, reader)
    },
    /** Creates a job that stays queued, and follows its events. */
    followJob: async ({ id, key }: { readonly id: string; readonly key: string }, reader: PlatformReader = {}) => {
      const tenant = { tenantId: id, keyDigest: sha256Hex(key), webhookSecret: '' }
      const { jobId } = await reserveJob(table, tenant)
      const event = apiEvent({
        httpMethod: 'GET',
        path: PATHS['get-video-events'].replace('{job_id}', jobId),
        headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
        pathParameters: { job_id: jobId },
      })
      return await (await processOf('get-video-events')).invoke(event, reader)
    },
    /** Streams of events that the key has open. */
    openStreams: async (key: string): Promise<number> => {
      const item = await table.readItem(tableKeys.eventStreams(keyIdOf(key) ?? ''))
      return Object.keys(item?.leases ?? {}).length
    },
    /** Rows of requests. */
    rows: async (tenant: string): Promise<readonly LedgerRow[]> =>
      (await readLedgerRows(table, tenant)).filter(({ kind }) => kind !== 'grant' && kind !== 'reserve'),
    held: async (tenant: string) => formatCredits((await getTenant(table, tenant)).balance.held),
    close: async () => {
      const started = await Promise.all(processes.values())
      await Promise.all([...started, engine, upstream].map((part) => part.close()))
      rmSync(root, { recursive: true })
    },
  }
}

type FunctionProperties = {
  readonly Handler: string
  readonly Environment: { readonly Variables: Readonly<Record<string, unknown>> }
}

/** What the template says of each function, by the folder of its handler. */
function functionProperties(config: GatewayConfig): ReadonlyMap<string, FunctionProperties> {
  const functions = resourcesOf(Template.fromStack(createStack({ config })), 'AWS::Lambda::Function')
  return new Map(functions.map(({ properties }) => [folderOf(properties), properties]))
}

type Relayed = {
  readonly operation: StreamingOperation
  readonly root: string
  readonly config: GatewayConfig
  readonly engine: TestTable
}

async function startRelayed(
  { operation, root, config, engine }: Relayed,
  properties: ReadonlyMap<string, FunctionProperties>,
): Promise<FunctionProcess> {
  const folder = `api/${operation}`
  const directory = join(root, operation)
  mkdirSync(directory)
  for (const { name, code } of bundleHandler({ root: REPOSITORY_ROOT, folder }).files) {
    writeFileSync(join(directory, name), code)
  }
  writeFileSync(join(directory, 'gateway.json'), JSON.stringify(config))
  writeTokenizerRanks(join(directory, 'cl100k_base.json'))
  const { Handler, Environment } = properties.get(folder) ?? missing(folder)
  const written = Object.entries(Environment.Variables).filter(([, value]) => typeof value === 'string')
  const environment = {
    ...Object.fromEntries(written.map(([name, value]) => [name, String(value)])),
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
    TABLE_NAME: engine.table.name,
  }
  return await startFunction({ directory, entry: Handler.replace('index.', ''), environment })
}

function missing(folder: string): never {
  throw new RangeError(`the stack has no function ${folder}`)
}
