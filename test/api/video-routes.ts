import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StepInput } from '#core/jobs/video-job.ts'
import { formatCredits } from '#core/money.ts'
import { LOCAL_STATE_MACHINE_ARN, startAwsFront } from '#local/aws-front.ts'
import type { Execution } from '#local/step-functions-engine.ts'
import { storeApiKey } from '#store/keys/key-changes.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { auditTenant } from '../engines/audit.ts'
import { loadRoute, routeOf } from '../engines/load-route.ts'
import { startTestBucket } from '../engines/test-bucket.ts'
import { PER_SECOND_MODEL, testCatalogue } from '../engines/test-catalogue.ts'
import { startTestTable } from '../engines/test-table.ts'
import { openTenant, TESTER, type TestTenant } from '../engines/video-jobs.ts'
import { setTestLogging } from '../logs/test-logging.ts'
import { apiEvent, context } from '../middleware/api-exchange.ts'

/** A five-second video: 0.70 credits. */
export const BODY = { model: PER_SECOND_MODEL, prompt: 'a boat' }

type Call = {
  readonly body?: string | object
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly jobId?: string
  readonly query?: Readonly<Record<string, string>>
}

/** A tenant and one key of it. */
export type Client = { readonly tenant: TestTenant; readonly key: string; readonly keyId: string }

/**
 * The deployed handlers of the operations on video jobs over the local engines, once per test file. No execution runs:
 * `started` has their inputs, and `onStart` may do what a Submit would.
 */
export async function startVideoRoutes() {
  setTestLogging()
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-routes-'))
  const configFile = join(directory, 'gateway.json')
  const [engine, bucket] = await Promise.all([startTestTable(), startTestBucket()])
  writeFileSync(configFile, JSON.stringify({ ...testCatalogue().config, submit_wait_seconds: 1 }))
  const started: StepInput[] = []
  const routes = { onStart: async (_: StepInput): Promise<void> => {} }
  const start = (name: string, input: string): Execution => {
    started.push(JSON.parse(input))
    void routes.onStart(JSON.parse(input))
    return { name, input, startedAt: Date.now(), status: 'RUNNING', endedAt: undefined, error: undefined }
  }
  const front = await startAwsFront({ start, find: () => undefined, stop: () => false }, bucket.credentials)
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
    AWS_ENDPOINT_URL_S3: bucket.endpoint,
    AWS_ENDPOINT_URL_SFN: `http://127.0.0.1:${front.port}`,
    TABLE_NAME: engine.table.name,
    BUCKET_NAME: bucket.bucket.name,
    STATE_MACHINE_ARN: LOCAL_STATE_MACHINE_ARN,
    GATEWAY_CONFIG_FILE: configFile,
  })
  const open = async (operation: string) => {
    const handler = await loadRoute(operation)
    const { path } = routeOf(operation)
    return async (client: Client, { body, key = client.key, headers = {}, jobId, query }: Call = {}) => {
      const event = apiEvent({
        path,
        headers: { authorization: `Bearer ${key}`, ...headers },
        body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
        pathParameters: jobId === undefined ? null : { job_id: jobId },
        queryStringParameters: query ?? null,
        multiValueQueryStringParameters:
          query === undefined
            ? null
            : Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value]])),
      })
      const result = await handler(event, context)
      return { status: result.statusCode, json: JSON.parse(result.body), headers: result.headers ?? {} }
    }
  }
  const newClient = async (credits?: string, ratePerMinute?: number): Promise<Client> => {
    const tenant = await openTenant(engine.table, credits)
    const key = `key-${randomBytes(16).toString('hex')}`
    const keyId = await storeApiKey(
      engine.table,
      { key, tenantId: tenant.tenantId, models: null, ratePerMinute },
      TESTER,
    )
    return { tenant, key, keyId }
  }
  /** What a tenant's requests have left: its money, its executions, its objects, and whether its books are wrong. */
  const stateOf = async ({ tenant: { tenantId } }: Client) => {
    const { balance } = await getTenant(engine.table, tenantId)
    return {
      available: formatCredits(balance.available),
      held: formatCredits(balance.held),
      started: started.filter((each) => each.tenantId === tenantId).length,
      objects: await bucket.keys(`requests/${tenantId}/`),
      wrong: await auditTenant(engine.table, tenantId),
    }
  }
  const close = async () => {
    await Promise.all([engine.close(), bucket.close(), front.close()])
    rmSync(directory, { recursive: true, force: true })
  }
  return Object.assign(routes, { table: engine.table, bucket, open, newClient, stateOf, close })
}

/** The deployed handlers of one test file. */
export type VideoRoutes = Awaited<ReturnType<typeof startVideoRoutes>>
