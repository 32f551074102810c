import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Environment } from '../config/environment.ts'
import { findFreePort } from './free-port.ts'

/** A running DynamoDB engine, or one that somebody else runs. */
export type DynamoDbEngine = { readonly endpoint: string; close(): Promise<void> }

/** No engine for this machine. The message says every way out. */
class NoDynamoDbEngineError extends Error {
  override readonly name = 'NoDynamoDbEngineError'
}

/** The engine answers within tens of milliseconds; a machine under load may need longer. */
const START_MILLISECONDS_MAX = 10_000

/** Another process may take a port that was free a moment ago; that it happens thrice is something else. */
const PORTS_MAX = 3

/**
 * Starts dynoxide (bundled for Linux x64, else the one on PATH) over a file, or uses the endpoint that the environment names.
 * @throws NoDynamoDbEngineError where there is none of them, or it does not start.
 */
export async function startDynamoDbEngine(databaseFile: string, environment: Environment): Promise<DynamoDbEngine> {
  const endpoint = environment.AWS_ENDPOINT_URL_DYNAMODB || environment.AWS_ENDPOINT_URL
  if (endpoint) {
    return { endpoint, close: async () => undefined }
  }
  const binary = findBinary(environment)
  if (binary === undefined) {
    throw new NoDynamoDbEngineError(
      `no DynamoDB engine for ${process.platform}-${process.arch}: install dynoxide on PATH, or set AWS_ENDPOINT_URL_DYNAMODB to a running DynamoDB-compatible endpoint`,
    )
  }
  for (let attempt = 1; ; attempt += 1) {
    const engine = new EngineProcess(binary, databaseFile, await findFreePort())
    if (await engine.isAnswering()) {
      return { endpoint: engine.url, close: () => engine.close() }
    }
    await engine.close()
    if (!engine.lacksPort || attempt === PORTS_MAX) {
      throw new NoDynamoDbEngineError(
        `the DynamoDB engine did not start over ${databaseFile}: ${engine.lastWords || 'it did not answer in time'}`,
      )
    }
  }
}

function findBinary(environment: Environment): string | undefined {
  const onPath = (environment.PATH ?? '').split(delimiter).map((folder) => join(folder, 'dynoxide'))
  return [bundledBinary(), ...onPath].find((file) => file !== undefined && isExecutable(file))
}

function bundledBinary(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve('@dynoxide/linux-x64/package.json')
    return join(manifest, '..', 'dynoxide')
  } catch {
    return undefined
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Runs the engine so that it never outlives this process: a shell holds it and our pipe; when the pipe closes,
 * by `close` or because this process was killed, the shell ends the engine. Its own session keeps a Ctrl-C
 * in the terminal from ending it before the last requests are done.
 */
const TETHER =
  'exec 3<&0; "$0" "$@" </dev/null & engine=$!; (cat <&3 >/dev/null; kill "$engine" 2>/dev/null) & wait "$engine"'

/** Of what the engine says the end alone is kept: why it stopped. */
const WORDS_MAX = 2_000

/** How long an engine that answers is waited for to say so itself: of another version it may say nothing. */
const SILENT_MILLISECONDS_MAX = 500

/** One process of the engine on one port. */
class EngineProcess {
  readonly url: string
  readonly #child: ChildProcess
  #said = ''

  constructor(binary: string, databaseFile: string, port: number) {
    this.url = `http://127.0.0.1:${port}`
    const parameters = ['--host', '127.0.0.1', '--port', String(port), '--db-path', databaseFile]
    this.#child = spawn('/bin/sh', ['-c', TETHER, binary, ...parameters], {
      stdio: ['pipe', 'ignore', 'pipe'],
      detached: true,
    })
    this.#child.stderr?.on('data', (bytes: Buffer) => {
      this.#said = `${this.#said}${bytes.toString('utf8')}`.slice(-WORDS_MAX)
    })
  }

  /** The last line that it wrote. */
  get lastWords(): string {
    return this.#said.trim().split('\n').at(-1) ?? ''
  }

  get lacksPort(): boolean {
    return /already in use/i.test(this.#said)
  }

  /** False when it ended, or took too long. */
  async isAnswering(): Promise<boolean> {
    const giveUpAt = Date.now() + START_MILLISECONDS_MAX
    let answeredAt: number | undefined
    while (Date.now() < giveUpAt && this.#child.exitCode === null) {
      if (answeredAt === undefined && (await isReachable(this.url))) {
        answeredAt = Date.now()
      }
      // Somebody else's engine may answer there, who took the port first: then ours is about to end.
      if (answeredAt !== undefined && (this.#saysThatItListens || Date.now() - answeredAt > SILENT_MILLISECONDS_MAX)) {
        return true
      }
      await delay(10)
    }
    return false
  }

  get #saysThatItListens(): boolean {
    return /listening/i.test(this.#said)
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
      this.#child.stdin?.end()
      return
    }
    const exited = once(this.#child, 'exit')
    this.#child.stdin?.end()
    await exited
  }
}

async function isReachable(url: string): Promise<boolean> {
  try {
    await fetch(url)
    return true
  } catch {
    return false
  }
}
