import { setTimeout as delay } from 'node:timers/promises'
import { ExecutionError, type RunOptions, StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions'

/** The statuses of an execution, as Step Functions names them. */
type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED'

/** One execution; times in Unix milliseconds. */
export type Execution = {
  readonly name: string
  readonly input: string
  readonly startedAt: number
  status: ExecutionStatus
  endedAt: number | undefined
  /** Error name of a failed execution. */
  error: string | undefined
}

/** An execution of this name runs with another input, or has ended. */
export class ExecutionAlreadyExistsError extends Error {
  override readonly name = 'ExecutionAlreadyExists'
}

/** The input is not JSON or too large; no execution was started. */
export class InvalidExecutionInputError extends Error {
  override readonly name = 'InvalidExecutionInput'
}

/** The task of a state: takes the state's input and returns its result. */
export type Task = (input: unknown) => Promise<unknown>

type EngineOptions = {
  readonly definition: StateMachineDefinition
  /** States whose task cannot be repeated: a shutdown waits for it. */
  readonly unrepeatable?: readonly string[]
  /** By state name. */
  readonly tasks: Readonly<Record<string, Task>>
  /** Called for every execution that did not succeed, like a rule of EventBridge. */
  readonly onBroken: (execution: Execution) => void
  /** Waits and retry pauses by state name, in milliseconds; without them, waits take their time. */
  readonly pauses?: Pick<NonNullable<RunOptions['overrides']>, 'waitTimeOverrides' | 'retryIntervalOverrides'>
}

/** Ends a stopped execution past every Retry and Catch, which the interpreter would otherwise go through at once. */
class ExecutionStoppedError extends Error {
  override readonly name = 'ExecutionStopped'
  readonly isRetryable = false
  readonly isCatchable = false
}

/** Inputs, outputs and states above 256 KiB are refused, as in Step Functions. */
const STATE_BYTES_MAX = 262_144

/** How long a shutdown waits for tasks in flight: a submit takes up to 25 s at its upstream. */
const CLOSE_MILLISECONDS_MAX = 28_000

/** How many ended executions are kept; the oldest go first. AWS keeps them for 90 days. */
const ENDED_MAX = 10_000

/**
 * Runs executions of one state machine in this process. The interpreter follows the states; this class adds names, statuses,
 * repeated starts and the size limit. Executions end with the process, and Reconcile starts new ones.
 */
export class StepFunctionsEngine {
  readonly #machine: StateMachine
  readonly #options: EngineOptions
  readonly #executions = new Map<string, Execution>()
  readonly #aborts = new Map<string, () => void>()
  readonly #runs = new Map<string, Promise<void>>()
  readonly #stopped = new Set<string>()
  readonly #inFlight = new Set<Promise<unknown>>()
  #isClosing = false

  constructor(options: EngineOptions) {
    this.#options = options
    // A test validates the deployed definition once; doing it at each start costs two seconds.
    this.#machine = new StateMachine(options.definition, { validationOptions: { noValidate: true } })
  }

  /**
   * Starts an execution, or returns the one of this name that runs with the same input.
   * @throws ExecutionAlreadyExistsError for a name that has ended or runs with other input; InvalidExecutionInputError.
   */
  start(name: string, input: string): Execution {
    const parsed = parseInput(input)
    const existing = this.#executions.get(name)
    if (existing !== undefined) {
      if (existing.status === 'RUNNING' && existing.input === input) {
        return existing
      }
      throw new ExecutionAlreadyExistsError(`Execution Already Exists: '${name}'`)
    }
    const execution: Execution = {
      name,
      input,
      startedAt: Date.now(),
      status: 'RUNNING',
      endedAt: undefined,
      error: undefined,
    }
    this.#executions.set(name, execution)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#runs.set(name, promise)
    void this.#run(execution, parsed).then(resolve)
    return execution
  }

  find(name: string): Execution | undefined {
    return this.#executions.get(name)
  }

  /** Resolves with an execution once it has ended; undefined when there is none of this name. */
  async whenEnded(name: string): Promise<Execution | undefined> {
    await this.#runs.get(name)
    return this.find(name)
  }

  /** Ends an execution as `StopExecution` does: between two states, and past every Catch. */
  stop(name: string): boolean {
    const abort = this.#aborts.get(name)
    if (abort === undefined) {
      return false
    }
    this.#stopped.add(name)
    abort()
    return true
  }

  /**
   * Ends all executions without reporting them: their jobs continue when the next host reconciles. Tasks in flight that cannot
   * be repeated (a submit, a callback) may finish first, for a bounded time.
   */
  async close(): Promise<void> {
    this.#isClosing = true
    for (const name of this.#aborts.keys()) {
      this.stop(name)
    }
    const patience = new AbortController()
    const enough = delay(CLOSE_MILLISECONDS_MAX, undefined, { signal: patience.signal }).catch(() => undefined)
    await Promise.race([Promise.allSettled(this.#inFlight), enough])
    patience.abort()
  }

  async #run(execution: Execution, input: ReturnType<typeof parseInput>): Promise<void> {
    const { abort, result } = this.#machine.run(input, {
      overrides: { taskResourceLocalHandlers: this.#boundTasks(execution), ...this.#options.pauses },
    })
    this.#aborts.set(execution.name, abort)
    try {
      await result
      this.#end(execution, 'SUCCEEDED')
    } catch (error) {
      this.#end(execution, statusOf(error, execution), error)
    }
  }

  #boundTasks(execution: Execution) {
    const bound = ([state, task]: [string, Task]) => [
      state,
      async (input: unknown) => {
        if (this.#stopped.has(execution.name) || execution.status !== 'RUNNING') {
          throw new ExecutionStoppedError(`${execution.name} was stopped`)
        }
        const output = await this.#perform(state, task(input))
        if (Buffer.byteLength(JSON.stringify([input, output])) > STATE_BYTES_MAX) {
          // On AWS no Catch matches this error, so the execution ends here.
          execution.error = 'States.DataLimitExceeded'
          this.stop(execution.name)
        }
        return output
      },
    ]
    return Object.fromEntries(Object.entries(this.#options.tasks).map(bound))
  }

  async #perform(state: string, running: Promise<unknown>): Promise<unknown> {
    if (this.#options.unrepeatable?.includes(state) !== true) {
      return await running
    }
    this.#inFlight.add(running)
    try {
      return await running
    } finally {
      this.#inFlight.delete(running)
    }
  }

  #end(execution: Execution, status: ExecutionStatus, error?: unknown): void {
    execution.status = status
    execution.endedAt = Date.now()
    execution.error ??= error instanceof ExecutionError && error.cause instanceof Error ? error.cause.name : undefined
    this.#aborts.delete(execution.name)
    this.#stopped.delete(execution.name)
    this.#runs.delete(execution.name)
    this.#forgetOldest()
    if (status !== 'SUCCEEDED' && !this.#isClosing) {
      this.#options.onBroken(execution)
    }
  }

  #forgetOldest(): void {
    for (const [name, { status }] of this.#executions) {
      if (this.#executions.size <= ENDED_MAX) {
        return
      }
      if (status !== 'RUNNING') {
        this.#executions.delete(name)
      }
    }
  }
}

function parseInput(input: string): Parameters<StateMachine['run']>[0] {
  if (Buffer.byteLength(input) > STATE_BYTES_MAX) {
    throw new InvalidExecutionInputError(`the input is larger than ${STATE_BYTES_MAX} bytes`)
  }
  try {
    return JSON.parse(input)
  } catch (error) {
    throw new InvalidExecutionInputError('the input is not JSON', { cause: error })
  }
}

function statusOf(error: unknown, execution: Execution): ExecutionStatus {
  if (execution.error !== undefined) {
    return 'FAILED'
  }
  const name = error instanceof Error ? error.name : ''
  return name === 'ExecutionAbortedError' ? 'ABORTED' : name === 'ExecutionTimeoutError' ? 'TIMED_OUT' : 'FAILED'
}
