import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseBudgetLimit } from '#core/budgets.ts'
import type { StepInput, VideoJob } from '#core/jobs/video-job.ts'
import { ApiFront } from '#local/api-front.ts'
import { LOCAL_STATE_MACHINE_ARN } from '#local/aws-front.ts'
import { openCdnKey } from '#local/cdn-front.ts'
import type { Route } from '#routes/define-route.ts'
import { putText } from '#store/bucket/bucket.ts'
import { claimSubmit, recordAccepted } from '#store/jobs/job-progress.ts'
import { storeApiKey } from '#store/keys/key-changes.ts'
import { CostMeter, startMeteredBucket, startMeteredExecutions, startMeteredTable } from '../engines/cost-meter.ts'
import { relayConfig, startRelayUpstream } from '../engines/relay-rig.ts'
import { startTestBucket } from '../engines/test-bucket.ts'
import { testCatalogue } from '../engines/test-catalogue.ts'
import { startCallbackReceiver } from '../engines/test-servers.ts'
import { startTestTable } from '../engines/test-table.ts'
import { openTenant, TESTER } from '../engines/video-jobs.ts'
import { setTestLogging } from '../logs/test-logging.ts'
import { listenHttp } from '../platform/http/loopback.ts'
import { usesOf } from '../stack/role-check.ts'

/** One request; the rest of it follows from its route. */
export type Sent = {
  readonly key: string
  readonly parameters?: Readonly<Record<string, string>>
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object | undefined
}

export type Received = {
  readonly status: number
  readonly path: string
  readonly headers: Headers
  readonly text: string
}

/** Accesses of a function to table, bucket and state machine, such as `GetItem K#*`. */
export type Accesses = Set<string>

/** Every function of the client API behind HTTP, over local engines, with a recorder between functions and engines. */
export async function startRecordedApi() {
  setTestLogging()
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-recorded-'))
  const [engine, bucket, upstream, receiver, key] = await Promise.all([
    startTestTable(),
    startTestBucket(),
    startRelayUpstream(),
    startCallbackReceiver(),
    openCdnKey(join(directory, 'key.pem')),
  ])
  const recorded = new Map<string, Accesses>()
  const state: { folder: string; fault: string | undefined } = { folder: '', fault: undefined }
  const record = (access: string) => {
    recorded.set(state.folder, (recorded.get(state.folder) ?? new Set()).add(access))
  }
  const executions = new Executions(engine.table, bucket.bucket, () => record('StartExecution'))
  const meter = new CostMeter()
  const apiFront = new ApiFront()
  const [table, objects, machine, api] = await Promise.all([
    startMeteredTable(engine.endpoint, meter, {
      watch: (operation, input) => accessesOf(operation, input).forEach(record),
      fault: () => state.fault,
    }),
    startMeteredBucket(bucket.endpoint, meter, (operation, path) =>
      record(`${operation} ${path.split('/')[2] ?? ''}/`),
    ),
    startMeteredExecutions(meter, { start: (_, input) => executions.start(JSON.parse(input)) }),
    listenHttp((request, response) => void apiFront.serve(request, response)),
  ])
  const configFile = join(directory, 'gateway.json')
  const relayed = relayConfig([upstream], { channel: { timeouts: { first_byte_seconds: 3 } } })
  const { config } = testCatalogue()
  writeFileSync(
    configFile,
    JSON.stringify({
      ...config,
      submit_wait_seconds: 1,
      callback_allowlist: [receiver.origin],
      channels: [...config.channels, ...relayed.channels],
      models: [...config.models, ...relayed.models],
    }),
  )
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: table.origin,
    AWS_ENDPOINT_URL_S3: objects.origin,
    AWS_ENDPOINT_URL_SFN: machine.origin,
    TABLE_NAME: engine.table.name,
    BUCKET_NAME: bucket.bucket.name,
    STATE_MACHINE_ARN: LOCAL_STATE_MACHINE_ARN,
    CDN_BASE_URL: 'https://videos.example.com',
    CDN_KEY_PAIR_ID: 'K1RECORDED',
    CDN_SIGNING_KEY: key.privateKeyPem,
    GATEWAY_CONFIG_FILE: configFile,
    OPENAPI_FILE: '/nowhere',
  })
  return {
    table: engine.table,
    bucket: bucket.bucket,
    upstream,
    callbackUrl: receiver.url,
    executions,
    recordedOf: (folder: string): Accesses => recorded.get(folder) ?? new Set(),
    /** A tenant with a key, which has a budget of its own and a rate. */
    newClient: async (credits?: string, ratePerMinute = 600) => {
      const tenant = await openTenant(engine.table, credits)
      const key = `key-${randomBytes(16).toString('hex')}`
      const limits = { models: null, ratePerMinute, budgetLimit: parseBudgetLimit('50/day') }
      await storeApiKey(engine.table, { key, tenantId: tenant.tenantId, ...limits }, TESTER)
      return { tenant, key }
    },
    /** Sends a request while the table returns this error to everything. */
    whileTableFails: async <Result>(error: string, send: () => Promise<Result>): Promise<Result> => {
      state.fault = error
      try {
        return await send()
      } finally {
        state.fault = undefined
      }
    },
    send: async (route: Route, { key, parameters = {}, query = '', headers, body }: Sent): Promise<Received> => {
      state.folder = route.function
      const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? '')
      const response = await fetch(`${api.origin}${path}${query}`, {
        method: route.method,
        headers: { ...(route.auth === 'key' ? { authorization: `Bearer ${key}` } : {}), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, path, headers: response.headers, text: await response.text() }
    },
    close: async () => {
      await apiFront.invocationsEnded(5_000)
      await Promise.all([api, table, objects, machine, receiver].map((part) => part.stop()))
      await Promise.all([engine.close(), bucket.close(), upstream.close()])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export type RecordedApi = Awaited<ReturnType<typeof startRecordedApi>>

type Store = {
  readonly table: RecordedApi['table']
  readonly bucket: RecordedApi['bucket']
}

/** Executions that begin with a submit whose reply is too large for the record of the job. */
class Executions {
  readonly #store: Store
  readonly #onStart: () => void

  constructor(table: Store['table'], bucket: Store['bucket'], onStart: () => void) {
    this.#store = { table, bucket }
    this.#onStart = onStart
  }

  async start(input: StepInput & Pick<VideoJob, 'jobId'>): Promise<void> {
    this.#onStart()
    await this.submit(input)
  }

  /** Lets the upstream accept a job. */
  async submit({ tenantId, jobId }: Pick<VideoJob, 'tenantId' | 'jobId'>): Promise<void> {
    const { table, bucket } = this.#store
    const job = { tenantId, jobId }
    const nowSeconds = Math.trunc(Date.now() / 1000)
    const bucketKey = `texts/${tenantId}/${jobId}`
    await putText(bucket, bucketKey, '{"output":{"task_status":"PENDING"}}')
    await claimSubmit(table, { job, channel: { id: `ch-${jobId}`, max_open_jobs: 1, provider: 'p2' }, nowSeconds })
    await recordAccepted(table, job, { taskId: 'task', submitText: { bucketKey }, acceptedAt: nowSeconds })
  }
}

/** What IAM is asked for. In a transaction, each action may be checked against the keys of all parts. */
function accessesOf(operation: string, input: Readonly<Record<string, unknown>>): string[] {
  return usesOf(operation, input).flatMap(({ action, keys }) =>
    keys.map((key) => `${action} ${key.replace(/#.*/, '#*')}`),
  )
}
