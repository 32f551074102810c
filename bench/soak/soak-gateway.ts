import { type ProcessSize, processSize } from '../traffic/process-size.ts'
import {
  type RelayBundle,
  type RelayEnvironment,
  type RelayProcess,
  startRelayProcess,
} from '../traffic/relay-process.ts'
import { type Downtime, failureOfLine, type TimedFailure } from './soak-failures.ts'

/** A gateway that is killed and started again. */
export class SoakGateway {
  /** Of the process of the moment, in the order of their time. */
  sizes: ProcessSize[] = []
  /** When no process listened, because one was killed. */
  readonly downtimes: Downtime[] = []
  /** What the log has of the levels ERROR and WARN. */
  readonly logged: TimedFailure[] = []
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
    const from = performance.now()
    await killed?.kill()
    await this.start()
    this.downtimes.push({ from, to: performance.now() })
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
    const failure = failureOfLine(line)
    if (failure !== undefined) {
      this.logged.push({ failure, at: performance.now() })
    }
  }
}
