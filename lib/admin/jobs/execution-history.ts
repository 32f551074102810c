import {
  DescribeExecutionCommand,
  ExecutionDoesNotExist,
  type HistoryEvent,
  paginateGetExecutionHistory,
  SFNClient,
} from '@aws-sdk/client-sfn'
import { executionName } from '#adapters/aws/video-executions.ts'
import { EXECUTION_STARTED, type TimelineEntry } from './timeline-entry.ts'

/** Executions of one job beyond those that its reservation counts: the one of a cancel. */
const EXECUTIONS_BEYOND = 1
/** Step Functions keeps this many events per execution. */
const EVENTS_MAX = 25_000

/**
 * The executions of a job in Step Functions: start and end of each and, if the history can be read, its steps. Never inputs, outputs or
 * causes.
 * @param restarts the count in the reservation.
 */
export async function readExecutions(machineArn: string, { jobId, restarts }: { jobId: string; restarts: number }) {
  const client = new SFNClient({})
  const entries: TimelineEntry[] = []
  let hasHistory = true
  for (let number = 0; number <= restarts + EXECUTIONS_BEYOND; number += 1) {
    const name = executionName(jobId, number)
    const executionArn = `${machineArn.replace(':stateMachine:', ':execution:')}:${name}`
    const described = await describe(client, executionArn)
    if (described === undefined) {
      continue
    }
    const { startDate, stopDate, status } = described
    entries.push(...entryAt(startDate, EXECUTION_STARTED, name))
    entries.push(...entryAt(stopDate, `execution ${status?.toLowerCase().replace('_', ' ')}`, name))
    const events = await readHistory(client, executionArn)
    hasHistory = hasHistory && events !== undefined
    entries.push(...foldHistory(events ?? [], name))
  }
  return { entries, hasHistory }
}

async function describe(client: SFNClient, executionArn: string) {
  try {
    return await client.send(new DescribeExecutionCommand({ executionArn }))
  } catch (error) {
    if (error instanceof ExecutionDoesNotExist) {
      return undefined
    }
    throw error
  }
}

/** Undefined if there is no history: the local host keeps none. */
async function readHistory(client: SFNClient, executionArn: string): Promise<HistoryEvent[] | undefined> {
  const events: HistoryEvent[] = []
  try {
    for await (const page of paginateGetExecutionHistory({ client }, { executionArn, includeExecutionData: false })) {
      events.push(...(page.events ?? []))
      if (events.length >= EVENTS_MAX) {
        break
      }
    }
    return events
  } catch (error) {
    if (error instanceof Error && error.name === 'UnknownOperationException') {
      return undefined
    }
    throw error
  }
}

/** Steps in order; consecutive polls are one entry. */
export function foldHistory(events: readonly HistoryEvent[], execution: string): TimelineEntry[] {
  const entries: TimelineEntry[] = []
  let state = ''
  let polls: { count: number; first: Date } | undefined
  const endPolls = () => {
    if (polls !== undefined) {
      entries.push(
        ...entryAt(polls.first, polls.count === 1 ? 'Poll' : `Poll, ${polls.count} times from here on`, execution),
      )
      polls = undefined
    }
  }
  for (const event of events) {
    if (event.type === 'TaskStateEntered') {
      state = event.stateEnteredEventDetails?.name ?? ''
      if (state === 'Poll' && event.timestamp !== undefined) {
        polls = { count: (polls?.count ?? 0) + 1, first: polls?.first ?? event.timestamp }
      } else {
        endPolls()
        entries.push(...entryAt(event.timestamp, state, execution))
      }
    }
    const error = errorOf(event)
    if (error !== undefined) {
      endPolls()
      entries.push(...entryAt(event.timestamp, `${state} failed: ${error}`, execution))
    }
  }
  endPolls()
  return entries
}

/** Only the name of the error: a cause may contain an upstream's words. */
function errorOf(event: HistoryEvent): string | undefined {
  const failed = event.lambdaFunctionFailedEventDetails ?? event.taskFailedEventDetails
  const timedOut = event.lambdaFunctionTimedOutEventDetails ?? event.taskTimedOutEventDetails
  if (event.type?.startsWith('Execution')) {
    return undefined
  }
  return failed?.error ?? timedOut?.error
}

function entryAt(at: Date | undefined, event: string, execution: string): TimelineEntry[] {
  return at === undefined ? [] : [{ at: at.getTime(), event, execution }]
}
