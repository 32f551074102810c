import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { FRONT_DOOR_HEADER } from '#core/http.ts'
import { findHiddenAddress } from '#local/dynamodb-engine.ts'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import type { Route } from '#routes/define-route.ts'
import { ROUTES } from '#routes/index.ts'
import { RELAY_SERVER, RELAY_SERVER_NODE_OPTIONS, writeCode } from '#stack/function-code.ts'
import { REPOSITORY } from '../e2e/child-environment.ts'
import { keepChildOutput } from '../logs/keep-child-output.ts'

/** Lambda gives up a Web Function that does not listen by then. */
const START_MILLISECONDS_MAX = 60_000
const LOOK_MILLISECONDS = 25

/** A minified bundle is one line, which Node shows beside an error. */
const LINE_CHARACTERS_MAX = 300

/** Lambda Web Functions wrap what is written by `console`, and leave what is written to the output itself. */
const LAMBDA_CONSOLE = `data:text/javascript,${encodeURIComponent(`
  for (const name of ['log', 'info', 'warn', 'error', 'debug']) {
    console[name] = (message) => process.stdout.write(JSON.stringify({ level: 'INFO', message: String(message) }) + '\\n')
  }
`)}`

type ArchiveOptions = {
  /** JSON file that ships as `gateway.json`. */
  readonly configurationFile: string
  /** All that the process is told, besides what the platform tells it. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Headers without which the server finds nothing. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The deployed code of the relay server as a process of its own. */
export type RelayArchive = {
  readonly origin: string
  readonly directory: string
  readonly process: ChildProcess
  /** Lines of its output so far. */
  readonly log: readonly string[]
  /** SIGKILL; deletes the folder. */
  close(): Promise<void>
}

/**
 * Writes the code of the relay server into a folder of its own, as it is deployed, and starts its entry as Lambda starts it: in that folder, at the address that it is told, with
 * the options of its environment. Node lets the process read this folder alone, so nothing of the repository can be loaded.
 * @throws when its health is not 200 within the ten seconds that Lambda waits.
 */
export async function startRelayArchive(options: ArchiveOptions): Promise<RelayArchive> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'reelgate-relay-archive-')))
  writeCode(directory, { ...RELAY_SERVER, sources: { root: REPOSITORY, configurationFile: options.configurationFile } })
  const { host, port } = await findHiddenAddress()
  const confined = ['--permission', `--allow-fs-read=${directory}`]
  const child = spawn(process.execPath, [...confined, '--import', LAMBDA_CONSOLE, 'index.js'], {
    cwd: directory,
    env: {
      ...options.environment,
      NODE_OPTIONS: RELAY_SERVER_NODE_OPTIONS,
      AWS_REGION: 'us-east-1',
      AWS_LAMBDA_HTTP_ENDPOINT: `${host}:${port}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  keepChildOutput(child)
  const log: string[] = []
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on('line', (line) => log.push(line))
  }
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
    rmSync(directory, { recursive: true, force: true })
  }
  const origin = `http://${host}:${port}`
  if (!(await isHealthy({ origin, child, headers: options.headers ?? {} }))) {
    await close()
    throw new Error(
      `the relay server has no health:\n${log.map((line) => line.slice(0, LINE_CHARACTERS_MAX)).join('\n')}`,
    )
  }
  return { origin, directory, process: child, log, close }
}

type Started = {
  readonly origin: string
  readonly child: ChildProcess
  readonly headers: Readonly<Record<string, string>>
}

async function isHealthy({ origin, child, headers }: Started): Promise<boolean> {
  const giveUpAt = performance.now() + START_MILLISECONDS_MAX
  while (child.exitCode === null && performance.now() < giveUpAt) {
    const response = await fetch(`${origin}/health`, { headers }).catch(() => undefined)
    await response?.body?.cancel()
    if (response !== undefined) {
      return response.status === 200
    }
    await delay(LOOK_MILLISECONDS)
  }
  return false
}

type Origins = {
  /** Serves the paths of the relay server. */
  readonly relay: string
  /** Serves all other paths. */
  readonly others: string
  /** Proves the front door to the relay server. */
  readonly secret: string
}

/** A front door that sends each request on. */
export type FrontDoor = HttpServer & {
  readonly url: string
  /** Requests to the relay server so far, such as `POST /v1/chat/completions`. */
  readonly relayed: readonly string[]
}

/** The exact paths of relayed routes, as the distribution has them. */
const RELAYED_PATHS: ReadonlySet<string> = new Set(ROUTES.filter(({ relays }: Route) => relays).map(({ path }) => path))

/** Starts what the distribution of a deployment with `relay=web` does: relayed paths go to the relay server, all others to the API. */
export async function startFrontDoor({ relay, others, secret }: Origins): Promise<FrontDoor> {
  const relayed: string[] = []
  const server = await listen((request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    if (RELAYED_PATHS.has(path) || path === '/v1/models' || path.startsWith('/v1/models/')) {
      relayed.push(`${request.method} ${path}`)
      forward(request, response, { origin: relay, headers: { [FRONT_DOOR_HEADER]: secret } })
    } else {
      forward(request, response, { origin: others, headers: {} })
    }
  }, 0)
  return { ...server, url: `http://127.0.0.1:${server.port}`, relayed }
}

type Target = { readonly origin: string; readonly headers: Readonly<Record<string, string>> }

function forward(request: IncomingMessage, response: ServerResponse, { origin, headers }: Target): void {
  const { method, url = '/', headers: received } = request
  const { host: _, connection: __, ...kept } = received
  const sent = openRequest(new URL(url, origin), { method, headers: { ...kept, ...headers } })
  sent.on('error', () => response.destroy())
  sent.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    pipeline(answer, response, () => undefined)
  })
  pipeline(request, sent, () => undefined)
}
