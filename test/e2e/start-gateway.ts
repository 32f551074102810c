import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { keepChildOutput } from '../logs/keep-child-output.ts'
import { openLog } from '../logs/kept-logs.ts'
import { testLogVariables } from '../logs/test-logging.ts'
import { fileOfRun } from '../runner/kept-in-run.ts'
import type { AdminAnswer, AdminRequest } from './answer-admin-commands.ts'
import { REPOSITORY, withoutRunner } from './child-environment.ts'
import { VideoApi } from './video-client.ts'

/**
 * Admin commands with `--json` against one running local host, in a process that stays: starting one for each command
 * is half a second of work. `admin.test.ts` starts the command itself.
 */
export class AdminProcess {
  readonly #where: readonly string[]
  #child: ChildProcess | undefined

  constructor(dataDirectory: string) {
    this.#where = ['--json', '--local', '--data-dir', dataDirectory]
  }

  /** @returns what the command prints. @throws an error with what it says. */
  async run(command: readonly string[]): Promise<unknown> {
    this.#child ??= startChild()
    const { exitCode, stdout, stderr } = await ask(this.#child, {
      id: crypto.randomUUID(),
      command: [...command, ...this.#where],
    })
    const log = openLog('admin', 'stderr')
    log.write(stderr)
    log.close()
    if (exitCode !== 0) {
      throw new Error(`${command.join(' ')} exited with ${exitCode}: ${stderr}${stdout}`)
    }
    return JSON.parse(stdout)
  }

  close(): void {
    if (this.#child?.connected === true) {
      this.#child.disconnect()
    }
    this.#child = undefined
  }
}

function startChild(): ChildProcess {
  const child = fork(join(import.meta.dirname, 'answer-admin-commands.ts'), {
    cwd: REPOSITORY,
    env: { ...withoutRunner(), POWERTOOLS_METRICS_DISABLED: 'true', POWERTOOLS_LOG_LEVEL: 'SILENT' },
    execArgv: ['--import', join(REPOSITORY, 'bin/require-node.mjs')],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  // Commands of tests that run side by side wait for their answers at once.
  child.setMaxListeners(0)
  keepChildOutput(child)
  return child
}

function ask(child: ChildProcess, request: AdminRequest): Promise<AdminAnswer> {
  return new Promise((resolve, reject) => {
    const forget = () => {
      child.off('message', take)
      child.off('exit', fail)
    }
    const take = (answer: AdminAnswer) => {
      if (answer.id === request.id) {
        forget()
        resolve(answer)
      }
    }
    const fail = (code: number | null) => {
      forget()
      reject(new Error(`the process of the admin commands exited with ${code}`))
    }
    child.on('message', take)
    child.on('exit', fail)
    child.send(request)
  })
}

/** A start takes two seconds of processor time; this bounds a machine that does much else. */
const START_MILLISECONDS_MAX = 240_000

/** The channels that these tests know; another shipped one beside them could be given a job in their place. */
const KNOWN_CHANNELS = new Set(['p1-main', 'p2-direct', 'p2-international', 'p2-proxy', 'openai-main'])
/** A row of `channels`; no row of `models` has a provider. */
const CHANNEL_ROW = /^ {2}- id: (\S+)\n {4}provider: .*\n(?: {4}.*\n)*/gm

/** The shipped configuration, polled every second: nothing but `poll` shortens a wait. */
function writeFastConfig(directory: string, change: (yaml: string) => string): string {
  const shipped = readFileSync(join(REPOSITORY, 'config/gateway.yaml'), 'utf8')
  const known = shipped.replace(CHANNEL_ROW, (row, id) => (KNOWN_CHANNELS.has(id) ? row : ''))
  const fast = known.replace(/first_seconds: \d+, interval_seconds: \d+/g, 'first_seconds: 1, interval_seconds: 1')
  const file = join(directory, 'gateway.yaml')
  writeFileSync(file, change(fast))
  return file
}

export type Gateway = {
  readonly url: string
  readonly dataDirectory: string
  readonly configFile: string
  readonly process: ChildProcess
  readonly output: () => string
  /** The demo tenant's key. */
  readonly api: VideoApi
  admin(...parameters: string[]): Promise<unknown>
  /** Ends it as an operator would and answers the exit status. */
  stop(): Promise<number | null>
  kill(): Promise<void>
}

type Options = {
  dataDirectory?: string
  configFile?: string
  key?: string
  credits?: string
  environment?: Record<string, string>
  callbackOrigins?: string[]
  allowedHosts?: string[]
  parameters?: string[]
  changeConfig?: (yaml: string) => string
}

/** Starts `npm start` as a process of its own on a free port and waits until it says that it listens. */
export async function startGateway(options: Options = {}): Promise<Gateway> {
  const dataDirectory = options.dataDirectory ?? newDataDirectory()
  const change = options.changeConfig ?? ((yaml: string) => yaml)
  const allow = allowOrigins(options.callbackOrigins ?? [])
  const configFile = options.configFile ?? writeFastConfig(dataDirectory, (yaml) => change(allow(yaml)))
  const key = options.key ?? 'e2e-key'
  const parameters = ['--port', '0', '--config', configFile, '--data-dir', dataDirectory, '--api-key', key]
  parameters.push(...(options.allowedHosts ?? []).flatMap((name) => ['--allowed-host', name]))
  parameters.push(...(options.parameters ?? []))
  const child = spawn(
    process.execPath,
    ['--import', './bin/require-node.mjs', 'bin/local.ts', ...parameters, '--credits', options.credits ?? '100'],
    {
      cwd: REPOSITORY,
      env: { ...withoutRunner(), ...testLogVariables(), ...options.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  keepChildOutput(child)
  let output = ''
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  const url = await waitForUrl(child, (line) => {
    output += `${line}\n`
  }).catch((error: unknown) => {
    child.kill('SIGKILL')
    throw error
  })
  keepForRun(dataDirectory)
  const admin = new AdminProcess(dataDirectory)
  const end = async (signal: NodeJS.Signals) => {
    admin.close()
    return await endProcess(child, signal)
  }
  return {
    url,
    dataDirectory,
    configFile,
    process: child,
    output: () => output,
    api: new VideoApi(url, key),
    admin: (...command) => admin.run(command),
    stop: () => end('SIGTERM'),
    kill: async () => void (await end('SIGKILL')),
  }
}

/** Files that a host makes where they are missing, in a fifth of the processor time of its start. The first host of a run makes them for all. */
const MADE_ONCE = ['cdn-key.pem', 'cl100k_base.json']

function newDataDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-e2e-'))
  for (const name of MADE_ONCE) {
    const kept = fileOfRun(name)
    if (kept !== undefined && existsSync(kept)) {
      copyFileSync(kept, join(directory, name))
    }
  }
  return directory
}

function keepForRun(dataDirectory: string): void {
  for (const name of MADE_ONCE) {
    const kept = fileOfRun(name)
    if (kept !== undefined && !existsSync(kept)) {
      copyFileSync(join(dataDirectory, name), `${kept}.${process.pid}`)
      renameSync(`${kept}.${process.pid}`, kept)
    }
  }
}

function allowOrigins(origins: string[]): (yaml: string) => string {
  return (yaml) =>
    yaml.replace('  - hooks.example.com', ['hooks.example.com', ...origins].map((each) => `  - ${each}`).join('\n'))
}

async function waitForUrl(child: ChildProcess, keep: (line: string) => void): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const timer = setTimeout(() => reject(new Error('the gateway did not listen in time')), START_MILLISECONDS_MAX)
  child.once('exit', (code) => reject(new Error(`the gateway exited with ${code} before it listened`)))
  if (child.stdout !== null) {
    createInterface(child.stdout).on('line', (line) => {
      keep(line)
      const url = /^listening on (http:\S+)$/.exec(line)?.[1]
      if (url !== undefined) {
        resolve(url)
      }
    })
  }
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}

async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }
  return child.exitCode
}
