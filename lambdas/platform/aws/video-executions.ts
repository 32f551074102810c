import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  ListExecutionsCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { once } from '../cache.ts'
import { environmentVariable } from '../configuration.ts'
import { asError, jobFacts, logger } from '../telemetry/logger.ts'

type JobKey = Pick<VideoJob, 'tenantId' | 'jobId'>

/**
 * The state of an execution. `broken`: it failed, timed out or was stopped. `missing`: it never began, or Step Functions no
 * longer remembers it.
 */
export type ExecutionState = 'running' | 'ended' | 'broken' | 'missing'

const client = once(() => new SFNClient({}))

/** Which execution of a job: its first is 0, each restart by Reconcile counts on, and a cancel has one of its own. */
type Run = number | 'cancel'

/** The first execution has the job's id as its name; every other appends what it is. */
export function executionName(jobId: string, run: Run): string {
  return run === 0 ? jobId : `${jobId}-${run}`
}

/**
 * Starts the execution of a job. The input is the same every time, so a repeated start is the same execution. An execution that
 * has already ended is not started again.
 */
export async function startVideoExecution(job: JobKey, restarts = 0): Promise<void> {
  await start(job, restarts)
}

/**
 * Starts the execution that makes a cancelled or deleted job end now, beside the one that may wait for its next poll. A start that fails is
 * logged alone: the job's own execution does the same at its next step.
 */
export async function startCancellation(job: JobKey): Promise<void> {
  try {
    await start(job, 'cancel')
  } catch (error) {
    logger.warn('cancellation left to the execution of the job', { ...jobFacts(job), error: asError(error) })
  }
}

async function start({ tenantId, jobId }: JobKey, run: Run): Promise<void> {
  try {
    await client().send(
      new StartExecutionCommand({
        stateMachineArn: environmentVariable('STATE_MACHINE_ARN'),
        name: executionName(jobId, run),
        input: JSON.stringify({ tenantId, jobId }),
      }),
    )
  } catch (error) {
    if (!(error instanceof ExecutionAlreadyExists)) {
      throw error
    }
  }
}

/** Reads the state of an execution. */
export async function describeVideoExecution(jobId: string, restarts: number): Promise<ExecutionState> {
  const machineArn = environmentVariable('STATE_MACHINE_ARN')
  const executionArn = `${machineArn.replace(':stateMachine:', ':execution:')}:${executionName(jobId, restarts)}`
  try {
    const { status } = await client().send(new DescribeExecutionCommand({ executionArn }))
    if (status === 'RUNNING' || status === 'PENDING_REDRIVE') {
      return 'running'
    }
    return status === 'SUCCEEDED' ? 'ended' : 'broken'
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) {
      return 'missing'
    }
    throw error
  }
}

/** Most that one request lists. */
const LISTED_MAX = 1000

/** A million running executions, the quota of an account. */
const LIST_PAGES_MAX = 1000

/**
 * The jobs that have a running execution, but for those of cancellations, at the time of the call. Step Functions allows a new account 5 such requests a
 * second and bursts of 200, each of up to {@link LISTED_MAX} executions, and 15 a second of {@link describeVideoExecution}. The list
 * lags by moments: an execution that just began may be absent, one that just ended may be present.
 * @param hasTime no further page is read when false.
 * @returns undefined if the list was not read to its end.
 */
export async function listRunningJobs(hasTime: () => boolean): Promise<ReadonlySet<string> | undefined> {
  const jobs = new Set<string>()
  let nextToken: string | undefined
  for (let page = 0; page < LIST_PAGES_MAX && hasTime(); page += 1) {
    const { executions = [], nextToken: next } = await client().send(
      new ListExecutionsCommand({
        stateMachineArn: environmentVariable('STATE_MACHINE_ARN'),
        statusFilter: 'RUNNING',
        maxResults: LISTED_MAX,
        nextToken,
      }),
    )
    for (const { name = '' } of executions) {
      if (!name.endsWith('-cancel')) {
        jobs.add(name.slice(0, JOB_ID_LENGTH))
      }
    }
    nextToken = next
    if (nextToken === undefined) {
      return jobs
    }
  }
  return undefined
}

/** A UUID, with which the name of every execution of its job begins. */
const JOB_ID_LENGTH = 36
