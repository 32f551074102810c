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

/**
 * Starts dynoxide (bundled for Linux x64, else the one on PATH) over a file, or uses the endpoint that the environment names.
 * @throws NoDynamoDbEngineError where there is none of them.
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
  const port = await findFreePort()
  const child = spawnTethered(binary, ['--host', '127.0.0.1', '--port', String(port), '--db-path', databaseFile])
  const url = `http://127.0.0.1:${port}`
  await waitUntilAnswering(url, child)
  return { endpoint: url, close: () => stop(child) }
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

function spawnTethered(binary: string, parameters: string[]): ChildProcess {
  return spawn('/bin/sh', ['-c', TETHER, binary, ...parameters], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
}

async function waitUntilAnswering(url: string, child: ChildProcess): Promise<void> {
  const giveUpAt = Date.now() + START_MILLISECONDS_MAX
  while (Date.now() < giveUpAt && child.exitCode === null) {
    try {
      await fetch(url)
      return
    } catch {
      await delay(10)
    }
  }
  child.stdin?.end()
  throw new NoDynamoDbEngineError(`the DynamoDB engine did not start at ${url}`)
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return
  }
  const exited = once(child, 'exit')
  child.stdin?.end()
  await exited
}
