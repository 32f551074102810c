import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
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
const WAIT_MILLISECONDS_MAX = 30_000

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
