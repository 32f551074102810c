import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startP1Simulator } from '../../lib/simulators/p1.ts'
import { startP2Simulator } from '../../lib/simulators/p2.ts'
import type { Simulator, SimulatorRequest } from '../../lib/simulators/server.ts'
import { type Gateway, startGateway } from './start-gateway.ts'

const CLOCK_AHEAD = new URL('./clock-ahead.ts', import.meta.url).href

// biome-ignore lint/suspicious/noTemplateCurlyInString: this is what an operator writes.
const API_KEY = '${UPSTREAM_KEY}'

type Upstreams = { readonly p1: string; readonly p2: string }

/** Two models over two upstreams that are looked at every second, and nothing that throttles. */
function writeConfig(directory: string, upstreams: Upstreams, callbackOrigin: string): string {
  const channel = {
    max_open_jobs: 1000,
    poll: { first_seconds: 1, interval_seconds: 1, requests_per_second: 1000 },
  }
  const model = {
    kind: 'video',
    durations: { min: 3, max: 15 },
    resolutions: ['480P', '720P', '1080P'],
    default_resolution: '480P',
    audio: { supported: true, default: true },
    images: { min: 0, max: 0 },
    videos: { min: 0, max: 0 },
    audios: { min: 0, max: 0 },
    billing: 'per_request',
    prices: [{ price: '0.25' }],
  }
  const config = {
    callback_allowlist: [callbackOrigin],
    trusted_origins: [upstreams.p1, upstreams.p2],
    submit_wait_seconds: 2,
    channels: [
      {
        id: 'p1-watched',
        provider: 'p1',
        base_url: upstreams.p1,
        api_key: API_KEY,
        async_header: 'X-Provider-Async',
        models: { 'famB-1.1-t2v': 'famB-1.1-t2v' },
        ...channel,
      },
      {
        id: 'p2-watched',
        provider: 'p2',
        route: 'direct',
        base_url: upstreams.p2,
        api_key: API_KEY,
        models: { 'famA-2': 'famA-2-0-260128' },
        ...channel,
      },
    ],
    models: [
      { id: 'famB-1.1-t2v', owned_by: 'famB', ...model },
      { id: 'famA-2', owned_by: 'famA', ...model },
    ],
  }
  const file = join(directory, 'gateway.yaml')
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(config))
  return file
}

/** A gateway that is killed and started again over one data directory, as often as a test likes. */
export class KilledGateway {
  readonly #options: Parameters<typeof startGateway>[0]
  #current: Promise<Gateway>

  constructor(upstreams: Upstreams, callbackOrigin: string) {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-e2e-'))
    const configFile = writeConfig(dataDirectory, upstreams, callbackOrigin)
    this.#options = { dataDirectory, configFile, credits: '1000' }
    this.#current = this.#start(0)
  }

  /** The process of the moment, once it listens. */
  get current(): Promise<Gateway> {
    return this.#current
  }

  /** SIGKILL, and a new process that takes over `secondsLater` by its own clock. */
  async killAndStart(secondsLater = 0): Promise<void> {
    const killed = await this.#current
    const restarted = killed.kill().then(() => this.#start(secondsLater))
    this.#current = restarted
    await restarted
  }

  async end(): Promise<void> {
    await (await this.#current).kill()
  }

  #start(aheadSeconds: number): Promise<Gateway> {
    const environment = {
      UPSTREAM_KEY: 'upstream-key',
      NODE_OPTIONS: `--import=${CLOCK_AHEAD}`,
      CLOCK_AHEAD_MILLISECONDS: String(aheadSeconds * 1000),
    }
    return startGateway({ ...this.#options, environment })
  }
}

/** Looked at this often, so that a kill comes right after what it waits for. */
const LOOK_MILLISECONDS = 2
const WAIT_MILLISECONDS_MAX = 3 * 60_000

/** Resolves as soon as a count that only grows has grown by `more`. */
export async function grownBy(more: number, count: () => number): Promise<void> {
  const wanted = count() + more
  const giveUpAt = Date.now() + WAIT_MILLISECONDS_MAX
  while (count() < wanted) {
    if (Date.now() > giveUpAt) {
      throw new Error(`waited for ${wanted}, came to ${count()}`)
    }
    await delay(LOOK_MILLISECONDS)
  }
}

/** What a request asks of an upstream. */
type Asked = 'submit' | 'poll' | 'store'

/** An upstream of each family in the process of the test: it outlives any gateway and remembers what it accepted. */
export async function startWatchedUpstreams() {
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-upstreams-'))
  const files = { p1: join(directory, 'p1.jsonl'), p2: join(directory, 'p2.jsonl') }
  const behaviour = { queueSeconds: 0, runSeconds: 1, pollsPerSecond: Number.POSITIVE_INFINITY }
  const [p1, p2] = await Promise.all([
    startP1Simulator({ stateFile: files.p1, behaviour }),
    startP2Simulator({ stateFile: files.p2, behaviour }),
  ])
  const counters = [countRequests(p1), countRequests(p2)]
  return {
    p1: p1.baseUrl,
    p2: p2.baseUrl,
    /** Requests of one kind so far. */
    asked: (kind: Asked) => counters.reduce((total, counts) => total + counts()[kind], 0),
    /** The prompt of every task that was ever accepted, once for each time. */
    acceptedPrompts: () => [...readPrompts(files.p1), ...readPrompts(files.p2)],
    close: async () => {
      await Promise.all([p1.close(), p2.close()])
    },
  }
}

/** Counts across the simulator's log, which forgets its oldest entries: to be asked often. */
function countRequests({ requests }: Simulator): () => Record<Asked, number> {
  const counts = { submit: 0, poll: 0, store: 0 }
  let newest: SimulatorRequest | undefined
  return () => {
    const from = newest === undefined ? 0 : requests.lastIndexOf(newest) + 1
    for (const request of requests.slice(from)) {
      counts[kindOf(request)] += 1
      newest = request
    }
    return counts
  }
}

function kindOf({ method, path }: SimulatorRequest): Asked {
  if (path.startsWith('/results/')) {
    return 'store'
  }
  return method === 'POST' ? 'submit' : 'poll'
}

/** The simulators write each task that they accept into their state file, one JSON line each. */
function readPrompts(file: string): string[] {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  return lines.flatMap((line) => {
    const { kind, task } = JSON.parse(line)
    return kind === 'added' ? [String(task.prompt)] : []
  })
}
