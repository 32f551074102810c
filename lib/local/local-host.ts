import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join, resolve } from 'node:path'
import { isLoopbackHost } from '#core/admin/console-site.ts'
import type { AllowedOrigins } from '#core/api/cross-origin.ts'
import type { Channel } from '#core/catalogue/channel.ts'
import { type GatewayConfig, LOOPBACK_CALLBACKS } from '#core/catalogue/gateway-config.ts'
import type { Microcredits } from '#core/money.ts'
import { type RoleSource, takeRoleFrom } from '#platform/aws/sts.ts'
import { MISDIRECTED, sendGatewayError } from '#platform/http-server/gateway-error.ts'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import { PROCESS_ID } from '#store/relay-ledger/hold.ts'
import { makeSignInLink } from '#store/sessions/sessions.ts'
import type { FunctionEnvironment } from '../config/function-variables.ts'
import { LOCAL_REGION, loadGatewayConfig, SIMULATOR } from '../config/load-gateway-config.ts'
import { OperatorError } from '../config/operator-error.ts'
import { keepTokenizerRanks } from '../config/tokenizer-ranks.ts'
import { buildConsole } from '../console/build-console.ts'
import { ApiFront, loadApiHandlers } from './api-front.ts'
import { LOCAL_STATE_MACHINE_ARN, startAwsFront } from './aws-front.ts'
import { CDN_PATH_PREFIX, type CdnKey, createCdnFront, openCdnKey } from './cdn-front.ts'
import { watchChannels } from './channel-traffic.ts'
import { createConsoleFront, isConsoleRequest } from './console-front.ts'
import { DataDirectory } from './data-directory.ts'
import { type DemoAccess, openDemoTenant } from './demo-tenant.ts'
import { createTable, startDynamoDbEngine } from './dynamodb-engine.ts'
import { engineCredentials, forgetAws, giveSimulatorKey, signWith } from './engine-credentials.ts'
import { invokeFunction } from './lambda-runtime.ts'
import { localActor } from './local-actor.ts'
import type { LogForm } from './log-lines.ts'
import { RelayFront } from './relay-front.ts'
import { startS3Engine } from './s3-engine.ts'
import { withSimulatedFailure } from './simulated-failures.ts'
import { seedSimulatedTimes } from './simulated-times.ts'
import { type SimulatedRole, startSimulators } from './start-simulators.ts'
import { shellRole } from './upstream-role.ts'
import { createVideoMachine, loadPipelineHandlers, RECONCILE, startReconciling } from './video-machine.ts'

const OPENAPI_FILE = join(import.meta.dirname, '..', '..', 'openapi.json')

/** Sets the variables that the stack gives its functions, and the addresses of the local engines for the clients of AWS. */
function setEnvironment(values: FunctionEnvironment): void {
  Object.assign(process.env, values, {
    AWS_REGION: process.env.AWS_REGION ?? LOCAL_REGION,
    POWERTOOLS_METRICS_DISABLED: process.env.POWERTOOLS_METRICS_DISABLED ?? 'true',
  })
}

const TABLE_NAME = 'reelgate'
const BUCKET_NAME = 'reelgate-videos'

/**
 * How long a shutdown waits for requests whose clients have left: longer than an upstream is read on to the upstream's usage, after which they
 * settle. Anything longer is left to the next start, as after a crash.
 */
export const REQUESTS_END_MILLISECONDS_MAX = 40_000

/** A simulated upstream is waited for no longer: nobody has to pay for what it would still say. */
const SIMULATED_END_MILLISECONDS = 1_500

/** The options of `npm start`. */
export type LocalHostOptions = {
  /** 0 picks a free port. */
  readonly port: number
  readonly configFile: string
  readonly dataDirectory: string
  /** Accepted as a key of the demo tenant, unchanged. */
  readonly apiKey: string | undefined
  /** The first grant of the demo tenant. */
  readonly credits: Microcredits
  /** Names besides those of this machine by which clients may call it, such as that of a proxy in front. */
  readonly allowedHosts: readonly string[]
  /** Simulates every upstream and starts every engine, whatever configuration and environment say. */
  readonly simulators?: boolean
  /** How long a simulated video takes; its polls and retries come every quarter of that. Needs simulated upstreams only. */
  readonly videoMilliseconds?: number | undefined
  /** Signs the callbacks of the demo tenant. */
  readonly webhookSecret?: string | undefined
  /** Writes the log to stderr, with a line for each request; by default, warnings and errors as a deployment writes them. */
  readonly log?: LogForm
}

/** What a channel talks to. */
type ChannelUpstream = { readonly id: string; readonly base_url: string; readonly simulated: boolean }

/** A running host. `close` resolves when everything that it started has ended. */
export type LocalHost = DemoAccess & {
  readonly url: string
  /** Signs in to the console, once, within ten minutes. */
  readonly consoleLink: string
  /** A sentence for each setting that is valid and probably a mistake. */
  readonly warnings: readonly string[]
  readonly channels: readonly ChannelUpstream[]
  /** Endpoints of engines that were not started here. */
  readonly externalEngines: readonly string[]
  /** Those that clients see. */
  readonly models: GatewayConfig['models']
  close(): Promise<void>
}

/**
 * Starts the whole gateway on one machine: the deployed handlers and state machine over local engines. It configures the handlers by
 * environment variables, like a deployment, so there is one host per process.
 * @throws OperatorError with a sentence for the operator.
 */
export async function startLocalHost(options: LocalHostOptions): Promise<LocalHost> {
  if (options.simulators === true) {
    forgetAws(process.env)
  }
  const mode = options.simulators === true ? 'simulated' : 'start'
  const { config: read, warnings } = loadGatewayConfig({ file: options.configFile, environment: process.env, mode })
  const config = asLocal(read, options)
  refuseTwoRoles(config)
  process.env.LOG_LEVEL ??= options.log === undefined ? 'WARN' : 'INFO'
  const { writeLog } = await import('./log-lines.ts')
  writeLog(options.log, (line) => process.stderr.write(`${line}\n`))
  // Table, bucket and journals hold prompts and balances, so other users may not read any file of this process and its engines.
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

/** The configuration with callbacks to any port of this machine and, for fast videos, without the waits of its channels. */
function asLocal(config: GatewayConfig, { videoMilliseconds }: LocalHostOptions): GatewayConfig {
  const real = realChannels(config).find(({ provider }) => provider !== 'openai')
  if (videoMilliseconds !== undefined && real !== undefined) {
    throw new OperatorError(
      `--video-milliseconds is for simulated videos, and channel ${real.id} has a real upstream: add --simulators, or leave its base_url to the simulator`,
    )
  }
  const poll = { first_seconds: 1, interval_seconds: 1 }
  return {
    ...config,
    callback_allowlist: [...new Set([...config.callback_allowlist, ...LOOPBACK_CALLBACKS])],
    channels: config.channels.map((channel) =>
      channel.provider === 'openai' || videoMilliseconds === undefined ? channel : { ...channel, poll },
    ),
  }
}

/** A process has one role: that of its shell, or a simulated one. @throws OperatorError for channels that need both. */
function refuseTwoRoles({ channels }: GatewayConfig): void {
  const keyless = channels.filter(({ base_url: _, ...channel }) => 'auth' in channel && channel.auth !== undefined)
  const [simulated, real] = [true, false].map((is) => keyless.find((each) => (each.base_url === SIMULATOR) === is))
  if (simulated !== undefined && real !== undefined) {
    throw new OperatorError(
      `the role of channel ${simulated.id} is simulated, and that of ${real.id} is not: give both an upstream, or start with --simulators`,
    )
  }
}

function realChannels({ channels }: GatewayConfig): readonly Channel[] {
  return channels.filter(({ base_url }) => base_url !== SIMULATOR)
}

type Closers = (() => Promise<void> | void)[]

/** Starts table, bucket, simulated upstreams and state machine, and sets the environment for the functions. */
async function startEngines(options: LocalHostOptions, config: GatewayConfig, data: DataDirectory, closers: Closers) {
  const { videoMilliseconds } = options
  const { isGiven, ...credentials } = engineCredentials(process.env)
  const ownRole = shellRole(process.env)
  const [dynamoDb, s3, upstreams, cdnKey] = await Promise.all([
    startDynamoDbEngine(data.file('table.sqlite'), process.env),
    startS3Engine({ directory: data.file('bucket'), bucketName: BUCKET_NAME, credentials }, process.env),
    startSimulators(config, data, { apiKey: giveSimulatorKey(), videoMilliseconds, simulatesAws: true }),
    openCdnKey(data.file('cdn-key.pem')),
  ])
  closers.push(dynamoDb.close, s3.close, ...upstreams.simulators.map((simulator) => () => simulator.close()))
  const machine = createVideoMachine(videoMilliseconds === undefined ? undefined : videoMilliseconds / 4)
  // Known once the relay is loaded.
  const channels = { describe: (): object => ({ channels: {}, credentials: {} }) }
  const aws = await startAwsFront(machine, credentials, () => channels.describe())
  closers.push(aws.close)
  data.writeJson('gateway.json', upstreams.config)
  data.writeJson('identity.json', { ...config.identity, trusted_origins: config.trusted_origins })
  // In the data directory, as beside the code of a deployed function.
  const ranksFile = data.file('cl100k_base.json')
  keepTokenizerRanks(ranksFile)
  if (!isGiven) {
    signWith(credentials)
  }
  takeRoleFrom(upstreams.role === undefined ? ownRole : simulatedRole(upstreams.role))
  const awsEndpoint = `http://127.0.0.1:${aws.port}`
  const { oidc } = config.console
  setEnvironment({
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDb.endpoint,
    AWS_ENDPOINT_URL_S3: s3.endpoint,
    AWS_ENDPOINT_URL_SFN: awsEndpoint,
    ...(upstreams.role === undefined ? {} : { AWS_ENDPOINT_URL_STS: upstreams.role.stsUrl }),
    TABLE_NAME,
    BUCKET_NAME,
    STATE_MACHINE_ARN: LOCAL_STATE_MACHINE_ARN,
    CDN_KEY_PAIR_ID: cdnKey.keyPairId,
    CDN_SIGNING_KEY: cdnKey.privateKeyPem,
    GATEWAY_CONFIG_FILE: data.file('gateway.json'),
    TOKENIZER_RANKS_FILE: ranksFile,
    OPENAPI_FILE,
    IDENTITY_FILE: config.identity.issuers.length === 0 ? '' : data.file('identity.json'),
    CORS_ORIGINS: config.cors.origins.join(' '),
    // Pages of this machine, whatever name and port they call it by.
    CONSOLE_ORIGIN: 'loopback',
    // One process reads and writes, so its pages need not be a minute old.
    CONSOLE_SUMMARY: 'live',
    CONSOLE_OIDC: oidc === undefined ? '' : JSON.stringify(oidc),
  })
  const announcement = {
    dynamoDbEndpoint: dynamoDb.endpoint,
    tableName: TABLE_NAME,
    s3Endpoint: s3.endpoint,
    bucketName: BUCKET_NAME,
    awsEndpoint,
    stateMachineArn: LOCAL_STATE_MACHINE_ARN,
    simulatedChannels: upstreams.addresses.flatMap(({ id, simulated }) => (simulated ? [id] : [])),
    // Credentials of the environment are not written to a file.
    ...(isGiven ? {} : { credentials }),
  }
  const externalEngines = [dynamoDb, s3].flatMap(({ endpoint, isExternal }) => (isExternal ? [endpoint] : []))
  return {
    machine,
    channels,
    cdnKey,
    announcement,
    facts: { channels: upstreams.addresses, externalEngines },
    running: upstreams.config.channels,
    simulators: upstreams.simulators,
  }
}

/** The session of a simulated role, renewed before it ends. */
function simulatedRole({ account }: SimulatedRole): RoleSource {
  let session = account.issue()
  return async () => {
    session = Date.now() < session.expiresAt ? session : account.issue()
    return session
  }
}

async function startParts(options: LocalHostOptions, config: GatewayConfig, data: DataDirectory, closers: Closers) {
  const engines = await startEngines(options, config, data, closers)
  const { machine, channels, cdnKey, announcement, facts, running, simulators } = engines
  await createTable(TABLE_NAME)
  const { openTable } = await import('#store/table/sdk-table.ts')
  // Before the port is open: who waits for it may use the key at once.
  const access = await openDemoTenant(openTable(), { ...options, data })
  const apiFront = new ApiFront()
  const relayFront = new RelayFront((request, response) => apiFront.serve(request, response))
  const { port, allowedHosts } = options
  const corsOrigins = config.cors.origins
  const server = await serve({
    port,
    allowedHosts,
    cdnKey,
    relayFront,
    corsOrigins,
    realChannels: realChannels(config),
  })
  const workSettled = async () => {
    const patience = setInterval(() => {
      for (const simulator of simulators) {
        simulator.hangUp()
      }
    }, SIMULATED_END_MILLISECONDS)
    await Promise.all([
      apiFront.invocationsEnded(REQUESTS_END_MILLISECONDS_MAX),
      relayFront.settled(REQUESTS_END_MILLISECONDS_MAX),
    ])
    await machine.close()
    clearInterval(patience)
  }
  closers.push(workSettled, server.close)
  const seeded = access.isTenantNew && seedSimulatedTimes(openTable(), config, Math.trunc(Date.now() / 1000))
  await Promise.all([seeded, relayFront.load(), loadApiHandlers(), loadPipelineHandlers()])
  channels.describe = await watchChannels(running)
  closers.push(startReconciling((event) => invokeFunction(RECONCILE, event), PROCESS_ID))
  const url = `http://127.0.0.1:${server.port}`
  const consoleLink = `${url}/console#link=${await makeSignInLink(openTable(), localActor().name, Date.now())}`
  data.announce({ pid: process.pid, url, configFile: resolve(options.configFile), ...announcement })
  const models = config.models.filter(
    ({ id, enabled }) => enabled && config.channels.some((channel) => Object.hasOwn(channel.models, id)),
  )
  return { ...access, ...facts, models, url, consoleLink }
}

type ServeOptions = Pick<LocalHostOptions, 'port' | 'allowedHosts'> & {
  readonly realChannels: readonly Channel[]
  readonly cdnKey: CdnKey
  readonly relayFront: RelayFront
  readonly corsOrigins: AllowedOrigins
}

/** One port for the API, the CDN and the console. Handlers are loaded after this, because they read the CDN's address when they sign. */
async function serve(options: ServeOptions): Promise<HttpServer> {
  const { port, allowedHosts, cdnKey, relayFront, corsOrigins, realChannels } = options
  const { logRequest } = await import('./log-lines.ts')
  const cdnUrl = () => process.env.CDN_BASE_URL ?? ''
  const serveCdnRequest = createCdnFront({ bucketName: BUCKET_NAME, key: cdnKey, baseUrl: cdnUrl, corsOrigins })
  // Built at the first request, if nothing has built it before: a host without a browser needs no console.
  const serveConsoleRequest = createConsoleFront({ directory: () => buildConsole(), videoOrigin: cdnUrl })
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.startsWith(CDN_PATH_PREFIX) && !request.url.startsWith('/v1/')) {
      await serveCdnRequest(request, response)
      return
    }
    const asked = await withSimulatedFailure(request, response, { realChannels, requestId: randomUUID() })
    if (asked !== undefined) {
      await relayFront.serve(asked, response)
    }
  }
  const server = await listen((request, response) => {
    if (!isServedHost(request.headers.host, allowedHosts)) {
      sendGatewayError(response, randomUUID(), MISDIRECTED)
      return
    }
    // A page of the console is a dozen files, which nobody looks for in a log.
    const served = isConsoleRequest(request.url)
      ? serveConsoleRequest(request, response)
      : logRequest(request, response, () => serve(request, response))
    served.catch(() => response.destroy())
  }, port)
  process.env.CDN_BASE_URL = `http://127.0.0.1:${server.port}`
  return server
}

/**
 * Whether a request is meant for this host. A page of any name may have that name point to this machine (DNS rebinding), and would then be
 * of the same origin as the API. Browsers always send a `Host`.
 */
function isServedHost(host: string | undefined, allowed: readonly string[]): boolean {
  return host === undefined || isLoopbackHost(host) || allowed.includes(host.replace(/:\d+$/, '').toLowerCase())
}
