import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { writeBenchConfig } from './bench-config.ts'
import { findDescendant } from './process-cpu.ts'

const REPOSITORY = join(import.meta.dirname, '..')
const START_MILLISECONDS_MAX = 30_000

/** Enough for every job of a measurement. */
const CREDITS = '1000000000'

/** A running `npm start`, with a data directory of its own that goes with it. */
export type BenchHost = {
  readonly url: string
  readonly key: string
  readonly pid: number
  /** The DynamoDB engine's process. */
  readonly enginePid: number
  /** Where the V8 inspector listens; undefined unless it was asked for. */
  readonly inspectorUrl: string | undefined
  /** Signs in to the console once, within ten minutes of the start. */
  readonly consoleLink: string
  stop(): Promise<void>
}

type BenchHostOptions = {
  readonly submitWaitSeconds: number
  readonly withInspector?: boolean
  /** Fills the data directory before the host starts there. */
  readonly fillDirectory?: (dataDirectory: string) => Promise<void>
}

/** Starts the gateway as `npm start` does, on a free port. @throws when it does not listen in time. */
export async function startBenchHost(options: BenchHostOptions): Promise<BenchHost> {
  const { submitWaitSeconds, withInspector, fillDirectory } = options
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-bench-'))
  const configFile = join(directory, 'bench.json')
  writeBenchConfig(configFile, { submitWaitSeconds })
  const key = 'bench-key'
  const dataDirectory = join(directory, 'data')
  mkdirSync(dataDirectory)
  await fillDirectory?.(dataDirectory)
  const host = ['bin/local.ts', '--port', '0', '--config', configFile, '--data-dir', dataDirectory]
  const inspector = withInspector === true ? ['--inspect=127.0.0.1:0'] : []
  const child = spawn(
    process.execPath,
    [...inspector, '--import', './bin/require-node.mjs', ...host, '--api-key', key, '--credits', CREDITS],
    { cwd: REPOSITORY, env: plainEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const endWithUs = () => void child.kill('SIGKILL')
  process.once('exit', endWithUs)
  const stop = async () => {
    process.off('exit', endWithUs)
    await end(child)
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    const [url, consoleLink, inspectorUrl] = await Promise.all([
      matchingLine(child, child.stdout, /^listening on (http:\S+)$/),
      matchingLine(child, child.stdout, /^console +(http:\S+)$/),
      withInspector === true ? matchingLine(child, child.stderr, /^Debugger listening on (ws:\S+)$/) : undefined,
    ])
    const pid = child.pid ?? 0
    return { url, key, pid, enginePid: findDescendant(pid, 'dynoxide'), inspectorUrl, consoleLink, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Without endpoints, credentials or Node options that the caller may have set for something else. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(AWS_|NODE_|POWERTOOLS_|LOG_LEVEL)/.test(name))
  return Object.fromEntries(kept)
}

async function matchingLine(child: ChildProcess, output: Readable, pattern: RegExp): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const timer = setTimeout(() => reject(new Error('the gateway did not listen in time')), START_MILLISECONDS_MAX)
  child.once('exit', (code) => reject(new Error(`the gateway exited with ${code} before it listened`)))
  createInterface(output).on('line', (line) => {
    const found = pattern.exec(line)?.[1]
    if (found !== undefined) {
      resolve(found)
    }
  })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    await exited
  }
}
