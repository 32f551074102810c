import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FUNCTION_OF_STATE, FUNCTION_TIMEOUT_SECONDS, pipelineFolderOf } from '../config/platform-facts.ts'
import { LOCAL_STATE_MACHINE_ARN } from './aws-front.ts'
import { invokeFunction, type LocalFunction } from './lambda-runtime.ts'
import { type Execution, StepFunctionsEngine } from './step-functions-engine.ts'

const DEFINITION_FILE = join(import.meta.dirname, '../../lambdas/pipeline/video-job.asl.json')

/** The function of each task in the definition. */
const FUNCTIONS: readonly (readonly [state: string, target: LocalFunction])[] = Object.entries(FUNCTION_OF_STATE).map(
  ([state, name]) => [
    state,
    {
      name,
      timeoutSeconds: FUNCTION_TIMEOUT_SECONDS[name],
      load: () => import(`#lambdas/pipeline/${pipelineFolderOf(name)}/handler.ts`),
    },
  ],
)

/** The function that the host invokes every minute, as the schedule of a deployment does. */
export const RECONCILE: LocalFunction = {
  name: 'reconcile',
  timeoutSeconds: FUNCTION_TIMEOUT_SECONDS.reconcile,
  load: () => import('#lambdas/pipeline/reconcile/handler.ts'),
}

/**
 * The deployed definition, interpreted over the deployed handlers. Reports broken executions to Reconcile.
 * @param pauseMilliseconds of every wait and before every retry, in place of those of the definition.
 */
export function createVideoMachine(pauseMilliseconds?: number): StepFunctionsEngine {
  const tasks = Object.fromEntries(
    FUNCTIONS.map(([state, target]) => [state, (input: unknown) => invokeFunction(target, input)]),
  )
  const definition = JSON.parse(readFileSync(DEFINITION_FILE, 'utf8'))
  return new StepFunctionsEngine({
    definition,
    tasks,
    unrepeatable: ['Submit', 'Notify'],
    onBroken: (execution) => void reportBroken(execution),
    ...(pauseMilliseconds === undefined
      ? {}
      : { pauses: samePauses(Object.keys(definition.States), pauseMilliseconds) }),
  })
}

/** By state; a state that does not wait has no use for its pause. */
function samePauses(states: readonly string[], milliseconds: number) {
  const pauses = Object.fromEntries(states.map((state) => [state, milliseconds]))
  return { waitTimeOverrides: pauses, retryIntervalOverrides: pauses }
}

/** Loads every handler of the pipeline, so that the first job does not wait for the imports. */
export async function loadPipelineHandlers(): Promise<void> {
  await Promise.all([...FUNCTIONS.map(([, target]) => target), RECONCILE].map((target) => target.load()))
}

/** Delivers the event that EventBridge would, best effort: Reconcile's schedule is the guarantee. */
async function reportBroken({ name, status, input }: Execution): Promise<void> {
  const detail = { executionArn: name, stateMachineArn: LOCAL_STATE_MACHINE_ARN, name, status, input }
  await invokeFunction(RECONCILE, {
    source: 'aws.states',
    'detail-type': 'Step Functions Execution Status Change',
    detail,
  }).catch(() => undefined)
}

/** As on AWS (the schedule of `lib/stack/reconcile-schedule.ts`). */
const RECONCILE_MILLISECONDS = 60_000

/**
 * Reconciles everything now, because every execution ended with the last process, and then every minute. A run that fails is made good by the
 * next one.
 * @param processId of this process, in the ids of its holds: what others hold has ended with them, whatever the clock says.
 * @returns ends it, and resolves when the last run has ended.
 */
export function startReconciling(
  reconcile: (event: object) => Promise<unknown>,
  processId: string,
): () => Promise<void> {
  const run = (all: boolean) =>
    reconcile({
      source: 'reelgate.local',
      'detail-type': 'Scheduled',
      detail: { all, process: processId },
    }).catch(() => undefined)
  let running: Promise<unknown> = run(true)
  const timer = setInterval(() => {
    running = run(false)
  }, RECONCILE_MILLISECONDS)
  return async () => {
    clearInterval(timer)
    await running
  }
}
