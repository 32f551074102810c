import { type ProcessSize, processSize } from '../traffic/process-size.ts'
import {
  type RelayBundle,
  type RelayEnvironment,
  type RelayProcess,
  startRelayProcess,
} from '../traffic/relay-process.ts'

/** A gateway that is killed and started again. */
export class SoakGateway {
  /** Of the process of the moment, in the order of their time. */
  sizes: ProcessSize[] = []
  /** When processes were killed, as times of `performance.now()`. */
  readonly killedAt: number[] = []
  /** How often the log has each message of the levels ERROR and WARN. */
  readonly messages = new Map<string, number>()
  readonly #bundle: RelayBundle
  readonly #environment: RelayEnvironment
  #process: RelayProcess | undefined
  #origin = ''

  constructor(bundle: RelayBundle, environment: RelayEnvironment) {
    this.#bundle = bundle
    this.#environment = environment
  }

  /** Of the process of the moment, or of the one before while none listens. */
  get origin(): string {
    return this.#origin
  }

  async start(): Promise<void> {
    this.#process = await startRelayProcess(this.#bundle, this.#environment, (line) => this.#hear(line))
    this.#origin = this.#process.origin
    this.sizes = []
  }

  /** SIGKILL, and a new process. */
  async killAndStart(): Promise<void> {
    const killed = this.#process
    this.#process = undefined
    this.killedAt.push(performance.now())
    await killed?.kill()
    await this.start()
  }

  /** Notes the size of the process of the moment. */
  look(): ProcessSize | undefined {
    if (this.#process === undefined) {
      return undefined
    }
    const size = processSize(this.#process.pid)
    this.sizes.push(size)
    return size
  }

  /** Ends it as the platform does, and resolves with its exit code. */
  async stop(): Promise<number | null | undefined> {
    return await this.#process?.stop()
  }

  #hear(line: string): void {
    if (line.includes('"level":"ERROR"') || line.includes('"level":"WARN"')) {
      const message = String(JSON.parse(line).message)
      this.messages.set(message, (this.messages.get(message) ?? 0) + 1)
    }
  }
}
