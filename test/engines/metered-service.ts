import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { StateMachine } from 'aws-local-stepfunctions'
import { parseCredits } from '#core/money.ts'
import { ApiFront } from '#local/api-front.ts'
import { LOCAL_STATE_MACHINE_ARN } from '#local/aws-front.ts'
import { openCdnKey } from '#local/cdn-front.ts'
import { invokeFunction } from '#local/lambda-runtime.ts'
import { storeApiKey } from '#store/keys/key-changes.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import { setTestLogging } from '../logs/test-logging.ts'
import { type Loopback, listenHttp } from '../platform/http/loopback.ts'
import { answerText, readFixture } from '../upstream/providers/upstream-fixture.ts'
import {
  CostMeter,
  startMeteredBucket,
  startMeteredExecutions,
  startMeteredTable,
  type TableWatch,
} from './cost-meter.ts'
import { startTestBucket } from './test-bucket.ts'
import { CLIP, startCallbackReceiver } from './test-servers.ts'
import { startTestTable } from './test-table.ts'
import { TESTER } from './video-jobs.ts'
import { readVideoMachine } from './video-machine.ts'

/** Answers of P2 as they were recorded. */
const ANSWERS = {
  queued: 'p2_poll_queued',
  running: 'p2_poll_running',
  succeeded: 'p2_poll_succeeded',
  failed: 'p2_poll_failed_internal',
} as const

type TaskState = keyof typeof ANSWERS

export type ReplayedUpstream = Loopback & {
  /** What the next polls find, one after the other; the last one is repeated. */
  nextStates(...states: TaskState[]): void
}

/** P2's direct route, with its recorded answers; a finished task's video is a clip of three seconds. */
export async function startReplayedUpstream(): Promise<ReplayedUpstream> {
  let states: readonly TaskState[] = ['running']
  const server = await listenHttp((request, response) => {
    if (request.url?.startsWith('/video.mp4')) {
      response.writeHead(200, { 'content-type': 'video/mp4' }).end(CLIP)
      return
    }
    const name = request.method === 'POST' ? 'p2_submit_t2v' : ANSWERS[states[0] ?? 'running']
    if (request.method === 'GET' && states.length > 1) {
      states = states.slice(1)
    }
    // The query stays: signed urls are most of what makes an answer long.
    const text = answerText(readFixture(name)).replace(/https:[^"?]*\.mp4/, `${server.origin}/video.mp4`)
    response.writeHead(200, { 'content-type': 'application/json' }).end(text)
  })
  return {
    ...server,
    nextStates: (...next) => {
      states = next
    },
  }
}

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

/** The function behind each task of the definition. */
const FOLDERS = {
  Submit: 'pipeline/submit-video-job',
  CheckReferences: 'pipeline/check-references',
  Poll: 'pipeline/poll-video-job',
  Store: 'pipeline/store-video',
  Settle: 'pipeline/settle-video-job',
  Fail: 'pipeline/fail-video-job',
  Notify: 'pipeline/notify',
} as const

/** Long enough for a channel's polls to come one by one, as they do when no test is in a hurry. */
const WAIT_MILLISECONDS = 120

type MeteredExecution = {
  /** When Submit has been left. */
  readonly submitted: Promise<void>
  /** How many states were entered in all, when the execution has ended: each is a transition to pay for. */
  readonly statesEntered: Promise<number>
}

/** Runs the deployed definition over the deployed handlers. */
export function runMeteredMachine(
  service: MeteredService,
  input: { tenantId: string; jobId: string },
): MeteredExecution {
  const submitted = Promise.withResolvers<void>()
  const tasks = Object.entries(FOLDERS).map(([state, folder]) => {
    const run = async (event: object) => {
      const output = await service.invoke(folder, event)
      if (state === 'Submit') {
        await service.backdateSubmit(input)
        submitted.resolve()
      }
      return output
    }
    return [state, run]
  })
  const definition = JSON.parse(JSON.stringify(readVideoMachine()))
  const execution = new StateMachine(definition, { validationOptions: { noValidate: true } }).run(input, {
    overrides: {
      taskResourceLocalHandlers: Object.fromEntries(tasks),
      waitTimeOverrides: { WaitForUpstream: WAIT_MILLISECONDS },
    },
  })
  const count = async () => {
    let entered = 0
    for await (const { type } of execution.eventLogs) {
      entered += type === 'StateEntered' ? 1 : 0
    }
    await execution.result
    return entered
  }
  return { submitted: submitted.promise, statesEntered: count() }
}
