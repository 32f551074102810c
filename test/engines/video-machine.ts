import { readFileSync } from 'node:fs'
import type { StepInput } from '#core/jobs/video-job.ts'
import { checkReferences } from '#lambdas/pipeline/check-references/check-references.ts'
import { sendJobCallback } from '#lambdas/pipeline/notify/send-job-callback.ts'
import { pollVideoJob } from '#lambdas/pipeline/poll-video-job/poll-video-job.ts'
import { failVideoJob, settleVideoJob } from '#lambdas/pipeline/resolve-video-job.ts'
import { storeVideo } from '#lambdas/pipeline/store-video/store-video.ts'
import { submitVideoJob } from '#lambdas/pipeline/submit-video-job/submit-video-job.ts'
import { LOCAL_STATE_MACHINE_ARN, startAwsFront } from '#local/aws-front.ts'
import { invokeFunction } from '#local/lambda-runtime.ts'
import { type Execution, StepFunctionsEngine } from '#local/step-functions-engine.ts'
import type { Pipeline } from './pipeline.ts'

export type StateName = 'Submit' | 'CheckReferences' | 'Poll' | 'Store' | 'Settle' | 'Fail' | 'Notify'

type Retrier = {
  ErrorEquals: string[]
  IntervalSeconds?: number
  BackoffRate?: number
  MaxDelaySeconds?: number
  MaxAttempts?: number
}
type State = {
  Type: string
  Next?: string
  Default?: string
  TimeoutSeconds?: number
  ResultPath?: string | null
  Parameters?: Record<string, string | number>
  Retry?: Retrier[]
  Catch?: { ErrorEquals: string[]; Next: string; ResultPath?: string | null }[]
  Choices?: { Variable: string; StringEquals: string; Next: string }[]
}

type Definition = { StartAt: string; TimeoutSeconds: number; States: Record<string, State> }

/** The deployed definition, as it lies in the repository, or one that was deployed before (`video-job-v1`). */
export function readVideoMachine(earlier?: string): Definition {
  const file =
    earlier === undefined ? '../../lambdas/pipeline/video-job.asl.json' : `../fixtures/definitions/${earlier}.asl.json`
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))
}

/** Runs around one visit of a state (counted from 1): before it, instead of it, or after it. */
type Interpose = (step: () => Promise<unknown>, visit: number) => Promise<unknown>

type MachineOptions = {
  /** The one that executions begin under; the deployed one unless said. */
  readonly definition?: Definition
  readonly interpose?: Partial<Record<StateName, Interpose>>
  readonly onBroken?: (execution: Execution) => void
  /** Real milliseconds that each wait lasts, for a test that ends an execution in one. */
  readonly waitMilliseconds?: number
}

/** A state machine over the step functions of one test, and the states that it visited. */
export type VideoMachine = {
  readonly engine: StepFunctionsEngine
  readonly visited: StateName[]
  run(job: StepInput): Promise<Execution>
}

/**
 * Interprets the deployed definition with the real steps. No time passes: a wait moves the clock of the test by the
 * seconds that the step asked for, and a retry by the longest pause that its retrier allows.
 */
export function createVideoMachine(
  pipeline: Pipeline,
  { definition = readVideoMachine(), interpose = {}, onBroken = () => {}, waitMilliseconds = 0 }: MachineOptions = {},
): VideoMachine {
  const visited: StateName[] = []
  const states = STATES.filter((state) => state in definition.States)
  const handlers = stepHandlers(pipeline)
  const bind = (state: StateName) => async (input: unknown) => {
    visited.push(state)
    const visit = visited.filter((each) => each === state).length
    const handler = (event: StepInput) => (interpose[state] ?? ((step) => step()))(() => handlers[state](event), visit)
    try {
      const output = await invokeFunction({ name: state, timeoutSeconds: 30, load: async () => ({ handler }) }, input)
      pipeline.clock.advance(waitSecondsOf(output))
      return output
    } catch (error) {
      pipeline.clock.advance(retryPause(definition.States[state], error, visited, state))
      throw error
    }
  }
  const engine = new StepFunctionsEngine({
    definition: JSON.parse(JSON.stringify(definition)),
    tasks: Object.fromEntries(states.map((state) => [state, bind(state)])),
    onBroken,
    pauses: {
      waitTimeOverrides: { WaitForChannel: waitMilliseconds, WaitForUpstream: waitMilliseconds },
      retryIntervalOverrides: Object.fromEntries(states.map((state) => [state, 0])),
    },
  })
  const run = async ({ tenantId, jobId }: StepInput) => {
    engine.start(jobId, JSON.stringify({ tenantId, jobId }))
    const execution = await engine.whenEnded(jobId)
    if (execution === undefined) {
      throw new Error(`execution ${jobId} is gone`)
    }
    return execution
  }
  return { engine, visited, run }
}

const STATES: readonly StateName[] = ['Submit', 'CheckReferences', 'Poll', 'Store', 'Settle', 'Fail', 'Notify']

/** What the deployed handlers do, with the context of the test in place of the environment's. */
function stepHandlers({ context }: Pipeline): Record<StateName, (input: StepInput) => Promise<unknown>> {
  return {
    Submit: (input) => submitVideoJob(input, context),
    CheckReferences: (input) => checkReferences(input, context),
    Poll: (input) => pollVideoJob(input, context),
    Store: (input) => storeVideo(input, context),
    Settle: (input) => settleVideoJob(input, context),
    Fail: (input) => failVideoJob(input, context),
    Notify: async ({ tenantId, jobId }) => {
      const openUrlSigner =
        async () =>
        ({ videoKey }: { videoKey: string }) =>
          `https://cdn.example/${videoKey}?signed`
      await sendJobCallback({ tenantId, jobId }, { ...context, openUrlSigner })
    },
  }
}

function waitSecondsOf(output: unknown): number {
  const hasWait = typeof output === 'object' && output !== null && 'waitSeconds' in output
  return hasWait ? Number(output.waitSeconds) : 0
}

function retryPause(state: State | undefined, error: unknown, visited: readonly StateName[], name: StateName): number {
  const errorName = error instanceof Error ? error.name : ''
  const retrier = state?.Retry?.find(({ ErrorEquals }) =>
    ErrorEquals.some((each) => [errorName, 'States.TaskFailed', 'States.ALL'].includes(each)),
  )
  const before = visited.length - 1 - visited.findLastIndex((each) => each !== name) - 1
  if (retrier === undefined || before >= (retrier.MaxAttempts ?? 3)) {
    return 0
  }
  const pause = (retrier.IntervalSeconds ?? 1) * (retrier.BackoffRate ?? 2) ** before
  return Math.min(pause, retrier.MaxDelaySeconds ?? Number.POSITIVE_INFINITY)
}

/**
 * The wire of Step Functions in front of the machine of the present test, named in the environment as a deployment names it.
 * `use` says which machine that is.
 */
export async function startExecutions() {
  let machine: VideoMachine | undefined
  let isDown = false
  const engine = () => {
    if (machine === undefined || isDown) {
      throw new Error('the service is down')
    }
    return machine.engine
  }
  const executions = {
    start: (name: string, input: string) => engine().start(name, input),
    find: (name: string) => engine().find(name),
    stop: (name: string) => engine().stop(name),
  }
  const front = await startAwsFront(executions, { accessKeyId: 'local', secretAccessKey: 'local' })
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_MAX_ATTEMPTS: '1',
    AWS_ENDPOINT_URL_SFN: `http://127.0.0.1:${front.port}`,
    STATE_MACHINE_ARN: LOCAL_STATE_MACHINE_ARN,
  })
  return {
    use: (current: VideoMachine) => {
      machine = current
      isDown = false
    },
    breakDown: () => {
      isDown = true
    },
    close: () => front.close(),
  }
}
