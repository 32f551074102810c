import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { parseCredits } from '#core/money.ts'
import { ApiFront } from '#local/api-front.ts'
import { LOCAL_STATE_MACHINE_ARN } from '#local/aws-front.ts'
import { openCdnKey } from '#local/cdn-front.ts'
import { invokeFunction } from '#local/lambda-runtime.ts'
import { storeApiKey } from '#store/keys/key-changes.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import { listenHttp } from '../adapters/outbound/loopback.ts'
import { setTestLogging } from '../logs/test-logging.ts'
import { startCallbackReceiver } from './callback-receiver.ts'
import { CostMeter } from './cost-meter.ts'
import { startMeteredBucket } from './metered-bucket.ts'
import { startMeteredExecutions } from './metered-executions.ts'
import { startMeteredTable, type TableWatch } from './metered-table.ts'
import { startReplayedUpstream } from './replayed-upstream.ts'
import { startTestBucket } from './start-test-bucket.ts'
import { startTestTable } from './start-test-table.ts'
import { TESTER } from './tester.ts'

/** A family A model, and the channel of the shipped configuration that serves it here. */
export const MODEL = 'famA-2'
export const CHANNEL = 'p2-direct'

/** What the recorded success answer says, and a little. */
const GENERATION_SECONDS = 110

type StepInput = { readonly tenantId: string; readonly jobId: string }

export type MeteredService = Awaited<ReturnType<typeof startMeteredService>>

/**
 * The deployed handlers and the shipped configuration over the local engines, with a meter on the wire between them.
 * The handlers read their environment when they are loaded, so there is one service per process.
 */
export async function startMeteredService(watch?: TableWatch) {
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-metered-'))
  setTestLogging()
  const meter = new CostMeter()
  const switches = new CostMeter()
  const begin: { execution: (input: StepInput) => Promise<void> } = { execution: async () => {} }
  const apiFront = new ApiFront()
  const [engine, bucket, upstream, receiver] = await Promise.all([
    startTestTable(),
    startTestBucket(),
    startReplayedUpstream(),
    startCallbackReceiver(),
  ])
  const [table, objects, services, api] = await Promise.all([
    startMeteredTable(engine.endpoint, meter, { watch, switches }),
    startMeteredBucket(bucket.endpoint, meter),
    startMeteredExecutions(meter, { start: (_name, input) => begin.execution(JSON.parse(input)) }),
    listenHttp((request, response) => void apiFront.serve(request, response)),
  ])
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
    AWS_ENDPOINT_URL_DYNAMODB: table.origin,
    AWS_ENDPOINT_URL_S3: objects.origin,
    AWS_ENDPOINT_URL_SFN: services.origin,
    AWS_ENDPOINT_URL_CLOUDFRONT: services.origin,
    TABLE_NAME: engine.table.name,
    BUCKET_NAME: bucket.bucket.name,
    STATE_MACHINE_ARN: LOCAL_STATE_MACHINE_ARN,
    CDN_BASE_URL: 'https://videos.example.com',
    CDN_KEY_PAIR_ID: 'K1METERED',
    CDN_SIGNING_KEY: (await openCdnKey(join(directory, 'key.pem'))).privateKeyPem,
    P2_DIRECT_API_KEY: 'upstream-key',
    GATEWAY_CONFIG_FILE: writeConfiguration(directory, upstream.origin, receiver.origin),
  })
  return {
    meter,
    /** Reads of the switches. An instance makes one where 15 seconds have passed since its last one. */
    switches,
    upstream,
    callbackUrl: receiver.url,
    /** The table without a meter, to prepare and to look. */
    table: engine.table,
    beginExecutionsBy: (execution: (input: StepInput) => Promise<void>) => {
      begin.execution = execution
    },
    request: (method: string, path: string, options: RequestOptions): Promise<Answer> =>
      send(method, `${api.origin}/v1/video/generations${path}`, options),
    /** Any route, by its whole path. */
    call: (method: string, path: string, options: RequestOptions): Promise<Answer> =>
      send(method, api.origin + path, options),
    invoke: (folder: string, event: object): Promise<unknown> =>
      invokeFunction({ name: folder, timeoutSeconds: 60, load: () => import(`#lambdas/${folder}/handler.ts`) }, event),
    /** Makes a job look as if it had been submitted so long ago as its upstream says that it took. */
    backdateSubmit: async ({ tenantId, jobId }: StepInput) => {
      await engine.table.client.send(
        new UpdateCommand({
          TableName: engine.table.name,
          Key: tableKeys.job(tenantId, jobId),
          UpdateExpression: 'SET submittedAt = submittedAt - :seconds',
          ExpressionAttributeValues: { ':seconds': GENERATION_SECONDS },
        }),
      )
    },
    openTenant: async (id: string, credits: string, ratePerMinute?: number) => {
      await makeTenant(engine.table, { id, name: id, credits: parseCredits(credits) }, TESTER)
      await storeApiKey(engine.table, { key: `key-of-${id}`, tenantId: id, models: null, ratePerMinute }, TESTER)
      return { tenantId: id, key: `key-of-${id}` }
    },
    close: async () => {
      await Promise.all([table, objects, services, api, upstream, receiver].map((part) => part.stop()))
      await Promise.all([engine.close(), bucket.close()])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function writeConfiguration(directory: string, upstream: string, receiver: string): string {
  const source = new URL('../../config/gateway.yaml', import.meta.url).pathname
  const { config } = loadGatewayConfig({ file: source, environment: { P2_DIRECT_BASE_URL: upstream }, mode: 'synth' })
  const file = join(directory, 'gateway.json')
  writeFileSync(file, JSON.stringify({ ...config, trusted_origins: [upstream], callback_allowlist: [receiver] }))
  return file
}

type RequestOptions = {
  readonly key: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

export type Answer = { readonly status: number; readonly body: { readonly id?: string; readonly data?: unknown[] } }

async function send(method: string, url: string, { key, body, headers }: RequestOptions): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: JSON.parse(await response.text()) }
}
