import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as z from 'zod'
import { findFreePort } from '#local/dynamodb-engine.ts'
import { nextMessage, PinnedProcessError, PROCESSORS, startPinned } from './pinned-process.ts'

const REPOSITORY = join(import.meta.dirname, '..', '..')

/** What is compared, in the order of the tables. */
export const TARGET_KINDS = ['direct', 'portkey', 'priced', 'free'] as const
export type TargetKind = (typeof TARGET_KINDS)[number]

/** A kind of target; of our gateway, the directory with the version that is measured. */
export type Target = { readonly kind: TargetKind; readonly title: string; readonly directory: string }

/** A target that is ready for load. */
export type RunningTarget = {
  readonly origin: string
  readonly pid: number
  /** Of every request. */
  readonly headers: Readonly<Record<string, string>>
  readonly model: string
  stop(): Promise<void>
}

const TITLES: Readonly<Record<TargetKind, string>> = {
  direct: 'direct',
  portkey: 'Portkey 1.15.2',
  priced: 'ours, keys + quota + routing',
  free: 'ours, price zero',
}

/**
 * The targets of a measurement.
 * @param checkout another checkout of the repository, with its packages installed, whose gateway is measured beside this one.
 */
export function targetsOf(kinds: readonly TargetKind[], checkout: string | undefined): readonly Target[] {
  return kinds.flatMap((kind) => {
    const own = { kind, title: TITLES[kind], directory: REPOSITORY }
    const isOurs = kind === 'priced' || kind === 'free'
    return checkout === undefined || !isOurs
      ? own
      : [own, { kind, title: `${TITLES[kind]} (${basename(checkout)})`, directory: checkout }]
  })
}

/** Starts a target in front of an upstream; `direct` is the upstream itself. */
export async function startTarget({ kind, directory }: Target, upstream: RunningTarget): Promise<RunningTarget> {
  switch (kind) {
    case 'direct':
      return { ...upstream, stop: async () => undefined }
    case 'portkey':
      return await startPortkey(upstream)
    case 'priced':
    case 'free':
      return await startGateway({ directory, model: kind, upstream })
    default:
      return kind satisfies never
  }
}

/** Starts the upstream on the load's processor. */
export async function startUpstream(): Promise<RunningTarget> {
  const upstream = startPinned(PROCESSORS.load, [join(import.meta.dirname, 'mock-upstream.ts')])
  const origin = await nextMessage<string>(upstream)
  return {
    origin,
    pid: upstream.pid,
    headers: { authorization: 'Bearer none' },
    model: 'gpt-mock',
    stop: upstream.stop,
  }
}

/** Valid for the one tenant of the gateway. */
const GATEWAY_KEY = 'bench-key'
/** Enough for every request of a measurement. */
const CREDITS = '1000000000'

type Gateway = {
  readonly directory: string
  readonly model: 'priced' | 'free'
  readonly upstream: Pick<RunningTarget, 'origin'>
  /** A running engine. By default, the gateway starts one below itself. */
  readonly tableEndpoint?: string
}

const manifest = z.object({ scripts: z.object({ start: z.string().startsWith('exec node ') }) })

/** Starts a gateway like its `npm start`, with a data directory of its own. @throws PinnedProcessError when it ends before it listens. */
export async function startGateway({ directory, model, upstream, tableEndpoint }: Gateway): Promise<RunningTarget> {
  const data = mkdtempSync(join(tmpdir(), 'reelgate-bench-'))
  const config = join(data, 'bench.json')
  writeFileSync(config, JSON.stringify(configOf(upstream.origin), null, 2))
  const { scripts } = manifest.parse(JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')))
  const parameters = ['--port', '0', '--config', config, '--data-dir', join(data, 'data')]
  const gateway = startPinned(
    PROCESSORS.server,
    [...scripts.start.split(' ').slice(2), ...parameters, '--api-key', GATEWAY_KEY, '--credits', CREDITS],
    { directory, environment: tableEndpoint === undefined ? {} : { AWS_ENDPOINT_URL_DYNAMODB: tableEndpoint } },
  )
  const stop = async () => {
    await gateway.stop()
    rmSync(data, { recursive: true, force: true })
  }
  for await (const line of createInterface(gateway.child.stdout ?? process.stdin)) {
    const origin = /^listening on (http:\S+)$/.exec(line)?.[1]
    if (origin !== undefined) {
      gateway.child.stdout?.resume()
      return { origin, pid: gateway.pid, headers: { authorization: `Bearer ${GATEWAY_KEY}` }, model, stop }
    }
  }
  await stop()
  throw new PinnedProcessError('the gateway ended before it listened')
}

const PRICES = {
  priced: { input_per_million: '0.15', output_per_million: '0.60' },
  free: { input_per_million: '0', output_per_million: '0' },
}

/** What the upstream of `<model>-native` speaks; that of `<model>` speaks chat. */
const NATIVE_APIS = { responses: '/responses', messages: { path: '/messages' } }

/** A model with a price and one without, each with two channels of equal priority and weight, so that every request is routed. */
function configOf(origin: string) {
  const model = { kind: 'chat', billing: 'token', context_tokens: 128_000, max_output_tokens: 16_384 }
  const channels = (suffix: string, more: object) =>
    [1, 2].map((index) => ({
      id: `upstream-${index}${suffix}`,
      provider: 'openai',
      base_url: `${origin}/v1`,
      models: Object.fromEntries(Object.keys(PRICES).map((id) => [`${id}${suffix}`, 'gpt-mock'])),
      ...more,
    }))
  return {
    channels: [...channels('', {}), ...channels('-native', { apis: NATIVE_APIS })],
    models: Object.entries(PRICES).flatMap(([id, row]) =>
      ['', '-native'].map((suffix) => ({ id: `${id}${suffix}`, ...model, prices: [row] })),
    ),
  }
}

/** A package of its own: nobody who works on the gateway needs it. */
const PORTKEY = join(import.meta.dirname, '..', 'portkey')
const PORTKEY_ENTRY = join('node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js')
const START_MILLISECONDS_MAX = 20_000
const LOOK_MILLISECONDS = 50

/** Installs what `bench/portkey/package-lock.json` says, once. None of its install scripts is needed. */
export async function installPortkey(progress: (line: string) => void): Promise<void> {
  if (!existsSync(join(PORTKEY, PORTKEY_ENTRY))) {
    progress('installing Portkey into bench/portkey')
    await promisify(execFile)('npm', ['ci', '--prefix', PORTKEY, '--ignore-scripts'])
  }
}

/** Portkey's client names provider and upstream with every request. */
async function startPortkey(upstream: RunningTarget): Promise<RunningTarget> {
  const port = await findFreePort()
  const parameters = [PORTKEY_ENTRY, '--headless', `--port=${port}`]
  const portkey = startPinned(PROCESSORS.server, parameters, { directory: PORTKEY })
  portkey.child.stdout?.resume()
  const giveUpAt = performance.now() + START_MILLISECONDS_MAX
  while (!(await accepts(port))) {
    if (performance.now() > giveUpAt) {
      await portkey.stop()
      throw new PinnedProcessError('Portkey does not listen in time')
    }
    await delay(LOOK_MILLISECONDS)
  }
  const headers = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstream.origin}/v1` }
  return {
    ...upstream,
    origin: `http://127.0.0.1:${port}`,
    pid: portkey.pid,
    headers: { ...upstream.headers, ...headers },
    stop: portkey.stop,
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
