import * as z from 'zod'
import type { Channel, RelayChannel } from '#core/catalogue/channel.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { LOCAL_REGION, SIMULATOR } from '../config/load-gateway-config.ts'
import { SimulatedAccount } from '../simulators/aws-account.ts'
import { bedrockDoor, providerDoor } from '../simulators/doors.ts'
import { type IdentitySimulator, startIdentitySimulator } from '../simulators/identity.ts'
import { type OpenAiSimulatorOptions, startOpenAiSimulator } from '../simulators/openai.ts'
import type { Simulator } from '../simulators/server.ts'
import type { TaskUpstreamOptions } from '../simulators/task-upstream.ts'
import { startVideoSimulator } from '../simulators/video-simulators.ts'
import type { DataDirectory } from './data-directory.ts'

const PORTS_FILE = 'simulator-ports.json'
const ports = z.record(z.string(), z.int().min(1).max(65_535))

/** Running simulated upstreams. */
export type SimulatedUpstreams = {
  /** The configuration with the address of every simulator, whose results are trusted. */
  readonly config: GatewayConfig
  readonly simulators: readonly Simulator[]
  /** Undefined if no simulated channel needs it. */
  readonly role: SimulatedRole | undefined
  /** What each channel talks to. */
  readonly addresses: readonly { readonly id: string; readonly base_url: string; readonly simulated: boolean }[]
}

/** An account in place of AWS, for channels that prove who they are by a role. */
export type SimulatedRole = {
  readonly account: SimulatedAccount
  /** The address of its STS. */
  readonly stsUrl: string
}

/** The addresses and the key of simulated upstreams. */
export type SimulatorPlace = {
  /** Address of this machine that the gateway can reach; default: 127.0.0.1. */
  readonly host?: string
  /** Port of the first channel; further channels get the next ports. Default: free ports, the previous ones if possible. */
  readonly portBase?: number
  /** The only accepted key, and the environment variable in which the gateway finds it; without it, any key is accepted. */
  readonly apiKey?: { readonly name: string; readonly value: string }
  /** How long a simulated video takes; four seconds by default. */
  readonly videoMilliseconds?: number | undefined
  /** Simulates AWS too, whose signatures and tokens are checked. Without it, a channel with `auth` has the key in its place. */
  readonly simulatesAws?: boolean
}

/**
 * Starts a separate HTTP server for every simulated channel. Ports and tasks survive a restart, so that jobs in flight find their upstream
 * again.
 * @throws the server's error if a port from `portBase` on is in use; servers that have started are closed.
 */
export async function startSimulators(
  config: GatewayConfig,
  data: DataDirectory,
  { host, portBase, apiKey, videoMilliseconds, simulatesAws = false }: SimulatorPlace = {},
): Promise<SimulatedUpstreams> {
  const simulators: Simulator[] = []
  const trusted: string[] = []
  const aws = simulatesAws ? await startAws(config, simulators) : undefined
  const lastPorts = data.readJson(PORTS_FILE, ports) ?? {}
  const simulated = config.channels.filter(({ base_url }) => base_url === SIMULATOR)
  const resolve = async (channel: Channel): Promise<Channel> => {
    const index = simulated.indexOf(channel)
    if (index === -1) {
      return channel
    }
    const verified = aws && channel.provider === 'openai' ? verifying(channel, aws) : undefined
    const options = {
      refuse: verified?.refuse,
      stateFile: data.file(`simulator-${channel.id}.json`),
      ...(host === undefined ? {} : { host }),
      ...(apiKey === undefined ? {} : { apiKey: apiKey.value }),
      ...(videoMilliseconds === undefined ? {} : { behaviour: hurried(videoMilliseconds) }),
    }
    const lastPort = lastPorts[channel.id] ?? 0
    const simulator =
      portBase === undefined
        ? await start(channel, { ...options, port: lastPort }).catch(() => start(channel, options))
        : await start(channel, { ...options, port: portBase + index })
    simulators.push(simulator)
    lastPorts[channel.id] = simulator.port
    // Videos are downloaded from their upstream, and tokens sent to it; other relayed replies contain their bytes.
    if (channel.provider !== 'openai') {
      trusted.push(simulator.baseUrl)
      return { ...channel, ...placeAt(simulator, apiKey) }
    }
    if (verified?.auth?.workload_identity !== undefined) {
      trusted.push(new URL(simulator.baseUrl).origin, ...(aws === undefined ? [] : [aws.identity.baseUrl]))
    }
    return {
      ...withoutOtherPlaces(channel),
      ...placeAt(simulator, verified?.auth === undefined ? apiKey : undefined),
      auth: verified?.auth,
    }
  }
  const channels = await allOrNone(config.channels.map(resolve), simulators)
  data.writeJson(PORTS_FILE, lastPorts)
  const simulatedIds = new Set(simulated.map(({ id }) => id))
  const addresses = channels.map(({ id, base_url }) => ({ id, base_url, simulated: simulatedIds.has(id) }))
  const running = { ...config, channels, trusted_origins: [...new Set([...config.trusted_origins, ...trusted])] }
  const role = aws && { account: aws.account, stsUrl: aws.identity.baseUrl }
  return { config: running, simulators, role, addresses }
}

function placeAt({ baseUrl }: Simulator, apiKey: SimulatorPlace['apiKey']) {
  return { base_url: baseUrl, api_key: apiKey === undefined ? '' : `\${${apiKey.name}}` }
}

/** A simulator has every API below one address. */
function withoutOtherPlaces(channel: RelayChannel): RelayChannel {
  const here = (apis: RelayChannel['apis']): RelayChannel['apis'] =>
    apis?.messages === undefined ? apis : { ...apis, messages: { path: apis.messages.path } }
  const models = Object.entries(channel.models).map(
    ([id, model]) => [id, typeof model === 'string' ? model : { ...model, apis: here(model.apis) }] as const,
  )
  return { ...channel, apis: here(channel.apis), models: Object.fromEntries(models) }
}

type SimulatedAws = {
  readonly account: SimulatedAccount
  readonly identity: IdentitySimulator
  readonly region: string
}

/** AWS for the simulated channels that need it, with every identity that they name at a provider. */
async function startAws({ channels }: GatewayConfig, simulators: Simulator[]): Promise<SimulatedAws | undefined> {
  const wanted = channels.flatMap((channel) =>
    channel.provider === 'openai' && channel.base_url === SIMULATOR ? (channel.auth ?? []) : [],
  )
  if (wanted.length === 0) {
    return undefined
  }
  const account = new SimulatedAccount()
  const region = process.env.AWS_REGION ?? LOCAL_REGION
  const clients = wanted.flatMap(({ workload_identity: identity }) => {
    if (identity === undefined) {
      return []
    }
    const { provider, token_url: _, ...ids } = identity
    return [{ provider, ids }]
  })
  const identity = await startIdentitySimulator({ account, region, clients })
  simulators.push(identity)
  return { account, identity, region }
}

/** How the upstream of a channel checks its callers, and the channel as it meets that. */
function verifying({ auth }: RelayChannel, { account, identity, region }: SimulatedAws) {
  const { aws, workload_identity: workload } = auth ?? {}
  if (aws !== undefined) {
    const { service, region: own = region, role_arn: roleArn = account.roleArn } = aws
    return { auth, refuse: bedrockDoor(account, { service, region: own, roleArn }) }
  }
  if (workload !== undefined) {
    const { provider } = workload
    const named = { ...workload, token_url: identity.tokenUrl(provider) }
    return { auth: { workload_identity: named }, refuse: providerDoor(identity, provider) }
  }
  return undefined
}

/** A quarter of the time in the queue, as usually, and any number of polls. */
function hurried(videoMilliseconds: number): NonNullable<TaskUpstreamOptions['behaviour']> {
  const seconds = videoMilliseconds / 1000
  return { queueSeconds: seconds / 4, runSeconds: (seconds * 3) / 4, pollsPerSecond: Number.POSITIVE_INFINITY }
}

/** An open server would keep the process alive. */
async function allOrNone<Value>(starts: readonly Promise<Value>[], simulators: readonly Simulator[]): Promise<Value[]> {
  const ends = await Promise.allSettled(starts)
  const failure = ends.find((end) => end.status === 'rejected')
  if (failure !== undefined) {
    await Promise.all(simulators.map((simulator) => simulator.close()))
    throw failure.reason
  }
  return ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
}

function start(
  channel: Channel,
  { refuse, ...options }: TaskUpstreamOptions & Pick<OpenAiSimulatorOptions, 'refuse'>,
): Promise<Simulator> {
  if (channel.provider !== 'openai') {
    return startVideoSimulator(channel, options)
  }
  // An upstream of relayed requests is stateless, and its time is that of its words.
  const { stateFile: _, behaviour: __, ...place } = options
  return startOpenAiSimulator({ ...place, refuse })
}
