import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn'
import { mockClient } from 'aws-sdk-client-mock'
import type { StepInput } from '#core/jobs/video-job.ts'
import { readVideoMachine, type StateName } from '../engines/video-machine.ts'
import type { Faults } from './faults.ts'
import type { Scheduler } from './scheduler.ts'

/** What the services of the present history are. */
export type Services = {
  readonly faults: Faults
  readonly executions: SimulatedExecutions
  readonly objects: Map<string, string>
}

let present: Services | undefined

/** From now on the clients of S3 and Step Functions talk to this history. */
export function useServices(services: Services): void {
  present = services
}

function services(): Services {
  if (present === undefined) {
    throw new ReferenceError('no history has begun')
  }
  return present
}

/** Puts every client of a service other than the table behind the doors of the simulation; once per process. */
export function mockServices(): void {
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:000000000000:stateMachine:video',
  })
  mockExecutions()
  mockBucket()
}

function mockExecutions(): void {
  const client = mockClient(SFNClient)
  client.on(StartExecutionCommand).callsFake(({ name, input }) =>
    services().faults.pass(`start ${name}`, async () => {
      services().executions.start(name, input)
      return {}
    }),
  )
  client.on(DescribeExecutionCommand).callsFake(({ executionArn }: { executionArn: string }) =>
    services().faults.pass('describe execution', async () => ({
      status: services().executions.statusOf(executionArn.split(':').at(-1) ?? ''),
    })),
  )
}

class PreconditionFailed extends Error {
  override readonly name = 'PreconditionFailed'
}

function mockBucket(): void {
  const client = mockClient(S3Client)
  client.on(PutObjectCommand).callsFake(({ Key, Body, IfNoneMatch }) =>
    services().faults.pass(`put ${Key}`, async () => {
      if (IfNoneMatch === '*' && services().objects.has(Key)) {
        throw new PreconditionFailed(Key)
      }
      services().objects.set(Key, String(Body))
      return {}
    }),
  )
  client.on(DeleteObjectCommand).callsFake(({ Key }) =>
    services().faults.pass(`delete ${Key}`, async () => {
      services().objects.delete(Key)
      return {}
    }),
  )
  client.on(GetObjectCommand).callsFake(({ Key }) =>
    services().faults.pass(`read ${Key}`, async () => ({
      Body: { transformToString: async () => services().objects.get(Key) ?? '' },
    })),
  )
}

type Status = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED'
type Execution = { readonly name: string; readonly input: string; status: Status; startedAt: number }
type Data = Record<string, unknown>
type Task = (input: StepInput) => Promise<unknown>

export type ExecutionOptions = {
  readonly scheduler: Scheduler
  readonly tasks: Readonly<Record<StateName, Task>>
  /** Whether no failed state and no failed job leads to Fail, and whether Notify is passed over. */
  readonly isCatchOff: boolean
  readonly isNotifyOff: boolean
  readonly onBroken: (input: StepInput) => void
}

const MACHINE = readVideoMachine()

/** Standard executions of the deployed definition, in virtual time: at least once for a task, once for a name. */
export class SimulatedExecutions {
  readonly #executions = new Map<string, Execution>()
  readonly #options: ExecutionOptions

  constructor(options: ExecutionOptions) {
    this.#options = options
  }

  get running(): readonly Execution[] {
    return [...this.#executions.values()].filter(({ status }) => status === 'RUNNING')
  }

  /** As the service does: the same name with the same input while it runs is the same execution. */
  start(name: string, input: string): void {
    const known = this.#executions.get(name)
    if (known?.status === 'RUNNING' && known.input === input) {
      return
    }
    if (known !== undefined) {
      throw new ExecutionAlreadyExists({ message: name, $metadata: {} })
    }
    const execution: Execution = {
      name,
      input,
      status: 'RUNNING',
      startedAt: this.#options.scheduler.nowMilliseconds(),
    }
    this.#executions.set(name, execution)
    this.#options.scheduler.spawn(() => this.#run(execution))
  }

  statusOf(name: string): Status {
    const known = this.#executions.get(name)
    if (known === undefined) {
      throw new ExecutionDoesNotExist({ message: name, $metadata: {} })
    }
    return known.status
  }

  /** Somebody stops an execution; a function that it called goes on. */
  stop(execution: Execution): void {
    this.#end(execution, 'ABORTED')
  }

  #end(execution: Execution, status: Status): void {
    if (execution.status === 'RUNNING') {
      execution.status = status
      if (status !== 'SUCCEEDED') {
        this.#options.onBroken(JSON.parse(execution.input))
      }
    }
  }

  async #run(execution: Execution): Promise<void> {
    let data: Data = JSON.parse(execution.input)
    let name: string | undefined = MACHINE.StartAt
    while (name !== undefined && execution.status === 'RUNNING') {
      const state: (typeof MACHINE.States)[string] | undefined = MACHINE.States[name]
      const age = this.#options.scheduler.nowMilliseconds() - execution.startedAt
      if (state === undefined || age > MACHINE.TimeoutSeconds * 1000) {
        return this.#end(execution, 'TIMED_OUT')
      }
      if (state.Type === 'Succeed') {
        return this.#end(execution, 'SUCCEEDED')
      }
      if (state.Type === 'Task') {
        const outcome = await this.#task(name as StateName, state, data, execution)
        if (outcome === undefined) {
          return this.#end(execution, 'FAILED')
        }
        data = outcome.data
        name = outcome.next
        if (name === undefined) {
          return this.#end(execution, 'SUCCEEDED')
        }
      } else {
        if (state.Type === 'Wait') {
          await this.#options.scheduler.pause(Number(nextOf(data).waitSeconds) * 1000)
        }
        if (state.Type === 'Choice' && nextOf(data).step === 'fail' && this.#options.isCatchOff) {
          return this.#end(execution, 'FAILED')
        }
        name =
          state.Choices?.find((choice) => choice.StringEquals === nextOf(data).step)?.Next ??
          state.Default ??
          state.Next
      }
    }
  }

  /** Undefined: the execution failed. */
  async #task(name: StateName, state: State, data: Data, execution: Execution): Promise<Outcome | undefined> {
    const { tasks, isCatchOff, isNotifyOff } = this.#options
    if (name === 'Notify' && isNotifyOff) {
      return { data, next: state.Next }
    }
    const spent = new Map<number, number>()
    while (execution.status === 'RUNNING') {
      try {
        const next = await tasks[name](inputOf(state, data))
        return { data: state.ResultPath === null ? data : { ...data, next }, next: state.Next }
      } catch (error) {
        const errorName = error instanceof Error ? error.name : 'Error'
        const pause = nextRetry(state, errorName, spent)
        if (pause === undefined) {
          const catcher = isCatchOff ? undefined : state.Catch?.find(({ ErrorEquals }) => takes(ErrorEquals, errorName))
          const failure = catcher?.ResultPath === null ? {} : { failure: { Error: errorName } }
          return catcher && { data: { ...data, ...failure }, next: catcher.Next }
        }
        await this.#options.scheduler.pause(pause * 1000)
      }
    }
    return
  }
}

type State = (typeof MACHINE.States)[string]

function takes(errorEquals: readonly string[], errorName: string): boolean {
  return errorEquals.includes(errorName) || errorEquals.includes('States.ALL')
}

/** What the task gets: the whole state, or what its `Parameters` name. */
function inputOf({ Parameters }: State, data: Data): StepInput {
  const named = Object.entries(Parameters ?? {}).map(([name, value]) =>
    name.endsWith('.$') ? [name.slice(0, -2), data[String(value).slice(2)]] : [name, value],
  )
  return JSON.parse(JSON.stringify(Parameters === undefined ? data : Object.fromEntries(named)))
}

type Outcome = { readonly data: Data; readonly next: string | undefined }

function nextOf(data: Data): { step?: string; waitSeconds?: number } {
  return typeof data.next === 'object' && data.next !== null ? data.next : {}
}

/** Every retrier counts its own attempts. @returns the pause in seconds; undefined when the state has failed. */
function nextRetry(state: State, errorName: string, spent: Map<number, number>): number | undefined {
  const index = (state.Retry ?? []).findIndex(({ ErrorEquals }) =>
    ErrorEquals.some((each) => each === errorName || each === 'States.TaskFailed' || each === 'States.ALL'),
  )
  const retrier = state.Retry?.[index]
  const before = spent.get(index) ?? 0
  if (retrier === undefined || before >= (retrier.MaxAttempts ?? 3)) {
    return
  }
  spent.set(index, before + 1)
  const pause = (retrier.IntervalSeconds ?? 1) * (retrier.BackoffRate ?? 2) ** before
  return Math.min(pause, retrier.MaxDelaySeconds ?? Number.POSITIVE_INFINITY)
}
