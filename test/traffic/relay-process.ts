import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { bundleHandler } from '#stack/bundle-handler.ts'
import { RELAY_SERVER, RELAY_SERVER_NODE_OPTIONS } from '#stack/function-code.ts'

const REPOSITORY = join(import.meta.dirname, '..', '..')

/** The deployed bundle of the relay server in a folder of its own. */
export type RelayBundle = { readonly directory: string; remove(): void }

/** Bundles the relay server as it is deployed. */
export function bundleRelayServer(): RelayBundle {
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-relay-'))
  for (const { name, code } of bundleHandler({ root: REPOSITORY, ...RELAY_SERVER }).files) {
    writeFileSync(join(directory, name), code)
  }
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

/** What a relay server is told by its environment. */
export type RelayEnvironment = {
  readonly tableEndpoint: string
  readonly tableName: string
  readonly configFile: string
}

/** A relay server in a process of its own. */
export type RelayProcess = {
  readonly origin: string
  readonly pid: number
  /** Ends it as the platform does, and resolves with its exit code. */
  stop(): Promise<number | null>
  /** SIGKILL. */
  kill(): Promise<void>
}

/**
 * Starts a relay server on a free port.
 * @param onLine hears of every line of its log, errors too.
 * @throws when it ends before it listens.
 */
export async function startRelayProcess(
  { directory }: RelayBundle,
  { tableEndpoint, tableName, configFile }: RelayEnvironment,
  onLine: (line: string) => void = () => undefined,
): Promise<RelayProcess> {
  const child = spawn(process.execPath, ['index.mjs'], {
    cwd: directory,
    env: {
      PATH: process.env.PATH,
      NODE_OPTIONS: RELAY_SERVER_NODE_OPTIONS,
      AWS_LAMBDA_HTTP_ENDPOINT: '127.0.0.1:0',
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_DYNAMODB: tableEndpoint,
      TABLE_NAME: tableName,
      GATEWAY_CONFIG_FILE: configFile,
      LOG_LEVEL: 'INFO',
      POWERTOOLS_METRICS_DISABLED: 'false',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const endWithUs = () => void child.kill('SIGKILL')
  process.once('exit', endWithUs)
  child.once('exit', () => process.off('exit', endWithUs))
  const port = await listeningPort(child, onLine)
  return {
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    stop: async () => await end(child, 'SIGTERM'),
    kill: async () => {
      await end(child, 'SIGKILL')
    },
  }
}

async function listeningPort(child: ChildProcess, onLine: (line: string) => void): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  child.once('exit', (code, signal) => reject(new Error(`the relay server ended with ${signal ?? code}`)))
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output ?? process.stdin }).on('line', (line) => {
      if (line.includes('"relay server listens"')) {
        resolve(JSON.parse(line).port)
      }
      onLine(line)
    })
  }
  return await promise
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const closed = once(child, 'close')
    child.kill(signal)
    await closed
  }
  return child.exitCode
}
