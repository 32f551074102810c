import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CreateTableCommand, DynamoDBClient, ResourceInUseException } from '@aws-sdk/client-dynamodb'
import { OperatorError } from '../config/operator-error.ts'
import type { Environment } from '../config/platform-facts.ts'

/**
 * A TCP port that was free when checked.
 * @param host an address of this machine.
 * @throws if the machine has no such address.
 */
export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  const server = createServer()
  return await new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}

/** Where a server can listen on this machine. */
export type LoopbackAddress = { readonly host: string; readonly port: number }

/**
 * A free port at a random address of loopback, for a server that checks no credentials. A page in a browser of this machine may send
 * requests to any address, but it would have to try 2^24 addresses, and the ports of each. Linux has all of 127.0.0.0/8; elsewhere the
 * address is 127.0.0.1, which a page finds.
 * @param drawHost a random address.
 */
export async function findHiddenAddress(drawHost = randomHost): Promise<LoopbackAddress> {
  const host = drawHost()
  try {
    return { host, port: await findFreePort(host) }
  } catch {
    return { host: LOOPBACK, port: await findFreePort(LOOPBACK) }
  }
}

const LOOPBACK = '127.0.0.1'

/** No network address, no broadcast address, and not the part of 127.0.0.0/8 that systems use. */
function randomHost(): string {
  return `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`
}

/** A DynamoDB engine, started here or external. */
export type DynamoDbEngine = { readonly endpoint: string; readonly isExternal: boolean; close(): Promise<void> }

/** The engine responds within tens of milliseconds; a machine under load may need much longer. */
const START_MILLISECONDS_MAX = 60_000

/** Another process may take a port that was just free; three times in a row has another cause. */
const ADDRESSES_MAX = 3

/**
 * Starts dynoxide (bundled for Linux x64, otherwise from PATH) over a file, or uses the endpoint in the environment. dynoxide checks no
 * credentials and lets scripts of every origin read its responses, so it listens where no page finds it.
 * @param nextAddress where a port is probably free; others are tried when another process has taken it.
 * @throws OperatorError if there is neither, or the engine does not start.
 */
export async function startDynamoDbEngine(
  databaseFile: string,
  environment: Environment,
  nextAddress: () => Promise<LoopbackAddress> = findHiddenAddress,
): Promise<DynamoDbEngine> {
  const endpoint = environment.AWS_ENDPOINT_URL_DYNAMODB || environment.AWS_ENDPOINT_URL
  if (endpoint) {
    return { endpoint, isExternal: true, close: async () => undefined }
  }
  const binary = findBinary(environment)
  if (binary === undefined) {
    throw new OperatorError(
      `no DynamoDB engine for ${process.platform}-${process.arch}: install dynoxide on PATH, or set AWS_ENDPOINT_URL_DYNAMODB to a running DynamoDB-compatible endpoint`,
    )
  }
  for (let attempt = 1; ; attempt += 1) {
    const engine = new EngineProcess(binary, databaseFile, await nextAddress())
    if (await engine.isListening()) {
      return { endpoint: engine.url, isExternal: false, close: () => engine.close() }
    }
    await engine.close()
    if (!engine.lacksPort || attempt === ADDRESSES_MAX) {
      throw new OperatorError(
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
 * Runs the engine so that it never outlives this process: a shell holds the engine and our pipe, and ends the engine when the pipe closes,
 * by `close` or because this process was killed. In a session of its own, a Ctrl-C in the terminal does not end the engine before the
 * last requests are done.
 */
const TETHER =
  'exec 3<&0; "$0" "$@" </dev/null & engine=$!; (cat <&3 >/dev/null; kill "$engine" 2>/dev/null) & wait "$engine"'

/** Only the end of the engine's output is kept: the reason for its stop. */
const WORDS_MAX = 2_000

/** How long to wait for the ready message of an engine that responds; another version may not print one. */
const SILENT_MILLISECONDS_MAX = 500

/** One process of the engine at one address. */
class EngineProcess {
  readonly url: string
  readonly #child: ChildProcess
  #said = ''

  constructor(binary: string, databaseFile: string, { host, port }: LoopbackAddress) {
    this.url = `http://${host}:${port}`
    const parameters = ['--host', host, '--port', String(port), '--db-path', databaseFile]
    this.#child = spawn('/bin/sh', ['-c', TETHER, binary, ...parameters], {
      stdio: ['pipe', 'ignore', 'pipe'],
      detached: true,
    })
    this.#child.stderr?.on('data', (bytes: Buffer) => {
      this.#said = `${this.#said}${bytes.toString('utf8')}`.slice(-WORDS_MAX)
    })
  }

  /** The last line of its output. */
  get lastWords(): string {
    return this.#said.trim().split('\n').at(-1) ?? ''
  }

  get lacksPort(): boolean {
    return /already in use/i.test(this.#said)
  }

  /** False if the engine ended or took too long. */
  async isListening(): Promise<boolean> {
    const giveUpAt = Date.now() + START_MILLISECONDS_MAX
    let listeningSince: number | undefined
    while (Date.now() < giveUpAt && this.#child.exitCode === null) {
      if (listeningSince === undefined && (await isReachable(this.url))) {
        listeningSince = Date.now()
      }
      // Another process's engine may have taken the port and respond there; then ours is about to end.
      if (
        listeningSince !== undefined &&
        (this.#saysThatItListens || Date.now() - listeningSince > SILENT_MILLISECONDS_MAX)
      ) {
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

/** Creates the table of `lib/stack/job-table.ts` in the local engine. An existing table stays as it is. */
export async function createTable(tableName: string, client = new DynamoDBClient({})): Promise<void> {
  try {
    await client.send(
      new CreateTableCommand({
        TableName: tableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: ['PK', 'SK', 'GSI1PK', 'GSI1SK'].map((AttributeName) => ({
          AttributeName,
          AttributeType: 'S',
        })),
        KeySchema: [
          { AttributeName: 'PK', KeyType: 'HASH' },
          { AttributeName: 'SK', KeyType: 'RANGE' },
        ],
        GlobalSecondaryIndexes: [
          {
            IndexName: 'GSI1',
            KeySchema: [
              { AttributeName: 'GSI1PK', KeyType: 'HASH' },
              { AttributeName: 'GSI1SK', KeyType: 'RANGE' },
            ],
            Projection: { ProjectionType: 'KEYS_ONLY' },
          },
        ],
      }),
    )
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) {
      throw error
    }
  }
}
