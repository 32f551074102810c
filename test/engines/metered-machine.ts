import { StateMachine } from 'aws-local-stepfunctions'
import type { MeteredService } from './metered-service.ts'
import { readVideoMachine } from './run-video-machine.ts'

/** The function behind each task of the definition. */
const FOLDERS = {
  Submit: 'pipeline/submit-video-job',
  CheckReferences: 'pipeline/check-references',
  Poll: 'pipeline/poll-video-job',
  Store: 'pipeline/store-video',
  Settle: 'pipeline/settle-video-job',
  Fail: 'pipeline/fail-video-job',
  Notify: 'pipeline/notify',
} as const

/** Long enough for a channel's polls to come one by one, as they do when no test is in a hurry. */
const WAIT_MILLISECONDS = 120

type MeteredExecution = {
  /** When Submit has been left. */
  readonly submitted: Promise<void>
  /** How many states were entered in all, when the execution has ended: each is a transition to pay for. */
  readonly statesEntered: Promise<number>
}

/** Runs the deployed definition over the deployed handlers. */
export function runMeteredMachine(
  service: MeteredService,
  input: { tenantId: string; jobId: string },
): MeteredExecution {
  const submitted = Promise.withResolvers<void>()
  const tasks = Object.entries(FOLDERS).map(([state, folder]) => {
    const run = async (event: object) => {
      const output = await service.invoke(folder, event)
      if (state === 'Submit') {
        await service.backdateSubmit(input)
        submitted.resolve()
      }
      return output
    }
    return [state, run]
  })
  const definition = JSON.parse(JSON.stringify(readVideoMachine()))
  const execution = new StateMachine(definition, { validationOptions: { noValidate: true } }).run(input, {
    overrides: {
      taskResourceLocalHandlers: Object.fromEntries(tasks),
      waitTimeOverrides: { WaitForUpstream: WAIT_MILLISECONDS },
    },
  })
  const count = async () => {
    let entered = 0
    for await (const { type } of execution.eventLogs) {
      entered += type === 'StateEntered' ? 1 : 0
    }
    await execution.result
    return entered
  }
  return { submitted: submitted.promise, statesEntered: count() }
}
