import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { PinnedProcess, PROCESSORS } from './pinned-process.ts'
import { type UpstreamOrigins, writeRelayConfig } from './relay-config.ts'

const REPOSITORY = join(import.meta.dirname, '..', '..')

/** Valid for the one tenant of the gateway. */
export const GATEWAY_KEY = 'bench-key'

/** Enough for every request of a measurement. */
const CREDITS = '1000000000'

/** A running `npm start`, with a data directory of its own that goes with it. */
export type GatewayProcess = {
  readonly origin: string
  readonly pid: number
  /** Where the V8 inspector listens; undefined unless it was asked for. */
  readonly inspectorUrl: string | undefined
  stop(): Promise<void>
}

type GatewayOptions = {
  readonly withInspector?: boolean
  /** A running engine. Default: the gateway starts one below itself. */
  readonly tableEndpoint?: string
}

/**
 * Starts the gateway as `npm start` does, without npm itself, on the server's processor and a free port; with the inspector,
 * on both processors. @throws when it ends before it listens.
 */
export async function startGateway(
  origins: UpstreamOrigins,
  { withInspector = false, tableEndpoint }: GatewayOptions = {},
): Promise<GatewayProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-bench-'))
  const configFile = join(directory, 'bench.json')
  writeRelayConfig(configFile, origins)
  const gateway = new PinnedProcess({
    processors: withInspector ? PROCESSORS.profiled : PROCESSORS.server,
    directory: REPOSITORY,
    parameters: [
      ...(withInspector ? ['--inspect=127.0.0.1:0'] : []),
      ...startParameters(),
      ...['--port', '0', '--config', configFile],
      ...['--data-dir', join(directory, 'data'), '--api-key', GATEWAY_KEY, '--credits', CREDITS],
    ],
    stdio: ['ignore', 'pipe', withInspector ? 'pipe' : 'ignore'],
    environment: tableEndpoint === undefined ? {} : { AWS_ENDPOINT_URL_DYNAMODB: tableEndpoint },
  })
  const stop = async () => {
    await gateway.stop()
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    const { stdout, stderr } = gateway.child
    const [origin, inspectorUrl] = await Promise.all([
      gateway.matchingLine(stdout, /^listening on (http:\S+)$/),
      withInspector ? gateway.matchingLine(stderr, /^Debugger listening on (ws:\S+)$/) : undefined,
    ])
    return { origin, pid: gateway.pid, inspectorUrl, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const manifest = z.object({ scripts: z.object({ start: z.string().startsWith('exec node ') }) })

/** What `npm start` gives to Node. */
function startParameters(): string[] {
  const { scripts } = manifest.parse(JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')))
  return scripts.start.split(' ').slice(2)
}
