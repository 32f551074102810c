import type { IncomingMessage, ServerResponse } from 'node:http'
import { credentialName } from '#core/catalogue/credential-name.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { Microcredits } from '#core/money/money.ts'
import { GatewayConfigError, loadGatewayConfig } from '../config/load-gateway-config.ts'
import { keepTokenizerRanks } from '../config/tokenizer-ranks.ts'
import { ApiFront } from './api-front.ts'
import { loadApiHandlers } from './api-routes.ts'
import { LOCAL_STATE_MACHINE_ARN, startAwsFront } from './aws-front.ts'
import { CDN_PATH_PREFIX, createCdnFront } from './cdn-front.ts'
import { type CdnKey, openCdnKey } from './cdn-key.ts'
import { createTable } from './create-table.ts'
import { DataDirectory } from './data-directory.ts'
import { type DemoAccess, openDemoTenant } from './demo-tenant.ts'
import { startDynamoDbEngine } from './dynamodb-engine.ts'
import { engineCredentials, giveSimulatorKey, signWith } from './engine-credentials.ts'
import { setEnvironment } from './host-environment.ts'
import { type LocalServer, listen } from './http-server.ts'
import { invokeFunction } from './lambda-runtime.ts'
import { startS3Engine } from './s3-engine.ts'
import { startSimulators } from './start-simulators.ts'
import { createVideoMachine, loadPipelineHandlers, RECONCILE } from './video-machine.ts'

const TABLE_NAME = 'reelgate'
const BUCKET_NAME = 'reelgate-videos'

/** As on AWS (the schedule of `lib/aws/reconcile-schedule.ts`). */
const RECONCILE_MILLISECONDS = 60_000

/**
 * How long a shutdown waits for functions whose clients are gone: longer than they read their upstream to its usage,
 * for then they settle. What takes longer is left to the next start, as after a crash.
 */
const INVOCATIONS_END_MILLISECONDS_MAX = 40_000

/** What `npm start` lets one choose. */
export type LocalHostOptions = {
  /** 0 takes a free one. */
  readonly port: number
  readonly configFile: string
  readonly dataDirectory: string
  /** Made valid for the demo tenant, exactly as it is. */
  readonly apiKey: string | undefined
  /** Granted to the demo tenant when it is first made. */
  readonly credits: Microcredits
}

/** A running host; `close` resolves when everything that it started has ended. */
export type LocalHost = DemoAccess & {
  readonly url: string
  /** A sentence for each thing in the configuration that is valid and most likely not meant. */
  readonly warnings: readonly string[]
  close(): Promise<void>
}

/**
 * The whole gateway on one machine: the deployed handlers and state machine over local engines.
 * It speaks to the handlers as a deployment does, by environment variables, so there is one host per process.
 * @throws GatewayConfigError, NoDynamoDbEngineError, DataDirectoryInUseError with a sentence for a person.
 */
export async function startLocalHost(options: LocalHostOptions): Promise<LocalHost> {
  const { config, warnings } = loadGatewayConfig({ file: options.configFile, environment: process.env, mode: 'local' })
  requireCredentials(config)
  // Table, bucket and journals hold prompts and balances: of what this process and its engines write, others read nothing.
  process.umask(0o077)
  const data = new DataDirectory(options.dataDirectory)
  data.lock()
  const closers: (() => Promise<void> | void)[] = [() => data.release()]
  const close = async () => {
    for (const closer of closers.toReversed()) {
      await closer()
    }
    closers.length = 0
  }
  try {
    return { ...(await startParts(options, config, data, closers)), warnings, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** A channel of a real upstream without its key would refuse every job: better said now. */
function requireCredentials(config: GatewayConfig): void {
  for (const channel of config.channels) {
    const name = credentialName(channel)
    if (channel.base_url !== 'simulator' && name !== undefined && !process.env[name]) {
      throw new GatewayConfigError(`channel ${channel.id} has an upstream and no key: set ${name} in the environment`)
    }
  }
}

type Closers = (() => Promise<void> | void)[]

async function startParts(options: LocalHostOptions, config: GatewayConfig, data: DataDirectory, closers: Closers) {
  const { isGiven, ...credentials } = engineCredentials(process.env)
  const [dynamoDb, s3, upstreams] = await Promise.all([
    startDynamoDbEngine(data.file('table.sqlite'), process.env),
    startS3Engine({ directory: data.file('bucket'), bucketName: BUCKET_NAME, credentials }, process.env),
    startSimulators(config, data, { apiKey: giveSimulatorKey() }),
  ])
  closers.push(dynamoDb.close, s3.close, ...upstreams.simulators.map((simulator) => () => simulator.close()))
  const machine = createVideoMachine()
  const awsFront = await startAwsFront(machine, credentials)
  closers.push(awsFront.close)
  const cdnKey = openCdnKey(data.file('cdn-key.pem'))
  const awsUrl = `http://127.0.0.1:${awsFront.port}`
  data.writeJson('gateway.json', upstreams.config)
  // It lies beside the state, as it does beside the code of a deployed function.
  const ranksFile = data.file('cl100k_base.json')
  keepTokenizerRanks(ranksFile)
  if (!isGiven) {
    signWith(credentials)
  }
  setEnvironment({
    tableName: TABLE_NAME,
    bucketName: BUCKET_NAME,
    dynamoDb: dynamoDb.endpoint,
    s3: s3.endpoint,
    aws: awsUrl,
    cdnKey,
    configFile: data.file('gateway.json'),
    ranksFile,
  })
  await createTable(TABLE_NAME)
  const apiFront = new ApiFront()
  const server = await serve({ port: options.port, cdnKey, apiFront })
  const invocationsEnded = () => apiFront.invocationsEnded(INVOCATIONS_END_MILLISECONDS_MAX)
  closers.push(() => machine.close(), invocationsEnded, server.close)
  const { openTable } = await import('#adapters/store/table/sdk-table.ts')
  const access = await openDemoTenant(openTable(), { ...options, data })
  await Promise.all([loadApiHandlers(), loadPipelineHandlers()])
  closers.push(startReconciling())
  const url = `http://127.0.0.1:${server.port}`
  data.announce({
    pid: process.pid,
    url,
    dynamoDbEndpoint: dynamoDb.endpoint,
    tableName: TABLE_NAME,
    s3Endpoint: s3.endpoint,
    bucketName: BUCKET_NAME,
    awsEndpoint: awsUrl,
    stateMachineArn: LOCAL_STATE_MACHINE_ARN,
    // A pair of the environment is nothing to be written down.
    ...(isGiven ? {} : { credentials }),
  })
  return { ...access, url }
}

type ServeOptions = { readonly port: number; readonly cdnKey: CdnKey; readonly apiFront: ApiFront }

/** One port for the API and the CDN. Handlers are loaded after this, because they read the CDN's address when they sign. */
async function serve({ port, cdnKey, apiFront }: ServeOptions): Promise<LocalServer> {
  const cdnUrl = () => process.env.CDN_BASE_URL ?? ''
  const answerCdnRequest = createCdnFront({ bucketName: BUCKET_NAME, key: cdnKey, baseUrl: cdnUrl })
  const answer = (request: IncomingMessage, response: ServerResponse) =>
    request.url?.startsWith(CDN_PATH_PREFIX) && !request.url.startsWith('/v1/')
      ? answerCdnRequest(request, response)
      : apiFront.answer(request, response)
  const server = await listen((request, response) => {
    answer(request, response).catch(() => response.destroy())
  }, port)
  process.env.CDN_BASE_URL = `http://127.0.0.1:${server.port}`
  return server
}

/** Nothing that was reserved before this can still be at work. Unix time in milliseconds. */
const PROCESS_STARTED_AT = Math.trunc(performance.timeOrigin)

/** Reconciles everything now, because every execution ended with the last process, then each minute. */
function startReconciling(): () => Promise<void> {
  const run = (all: boolean) =>
    invokeFunction(RECONCILE, {
      source: 'reelgate.local',
      'detail-type': 'Scheduled',
      detail: { all, startedAt: PROCESS_STARTED_AT },
    }).catch(() => undefined)
  let running: Promise<unknown> = run(true)
  const timer = setInterval(() => {
    running = run(false)
  }, RECONCILE_MILLISECONDS)
  return async () => {
    clearInterval(timer)
    await running
  }
}
