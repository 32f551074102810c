import {
  DescribeExecutionCommand,
  ExecutionDoesNotExist,
  type HistoryEvent,
  paginateGetExecutionHistory,
  SFNClient,
} from '@aws-sdk/client-sfn'
import { withoutFileName } from '#core/catalogue/references.ts'
import { jobIdMilliseconds } from '#core/ids.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import type { LedgerEntry } from '#core/pricing/usage.ts'
import { executionName } from '#platform/aws/video-executions.ts'

/** An event of a job. */
export type TimelineEntry = {
  /** Unix milliseconds. */
  readonly at: number
  readonly event: string
  /** The execution of the event, if the event comes from Step Functions. */
  readonly execution?: string
  /** The step of an event whose time is in whole seconds; `at` is the earliest possible time. */
  readonly doneBy?: 'Submit' | 'Poll'
}

/**
 * Sorts entries by time. An entry in whole seconds comes after the start of its step in the same second, or after the start of its
 * execution if the steps are unknown.
 */
export function orderTimeline(entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  return entries
    .map((entry) => ({ entry, at: earliest(entry, entries) }))
    .toSorted((left, right) => left.at - right.at || Number(isToSecond(left.entry)) - Number(isToSecond(right.entry)))
    .map(({ entry }) => entry)
}

/** ISO 8601 in UTC, with milliseconds if they are known. */
export function timeText(entry: TimelineEntry): string {
  const text = new Date(entry.at).toISOString()
  return isToSecond(entry) ? text.replace(/\.\d+/, '') : text
}

function isToSecond({ doneBy }: TimelineEntry): boolean {
  return doneBy !== undefined
}

function earliest(entry: TimelineEntry, entries: readonly TimelineEntry[]): number {
  const { at, doneBy } = entry
  if (doneBy === undefined) {
    return at
  }
  const second = Math.trunc(at / 1000)
  const before = entries.filter((other) => !isToSecond(other) && Math.trunc(other.at / 1000) === second)
  const reserved = before.find(({ event }) => event.startsWith('reserved'))
  const step =
    before.find(({ event }) => event.startsWith(doneBy)) ?? before.find(({ event }) => event === EXECUTION_STARTED)
  return Math.max(at, reserved?.at ?? at, step?.at ?? at)
}

/** The first entry of each execution. */
export const EXECUTION_STARTED = 'execution started'

/** The events that the table has of a job. Steps without a time in the record come from the execution. */
export function recordTimeline(job: VideoJob, ledger: readonly LedgerEntry[]): TimelineEntry[] {
  const createdAt = jobIdMilliseconds(job.jobId)
  // Times are truncated to seconds: an event in the second of the creation still came after it.
  const atSecond = (seconds: number) => Math.max(createdAt, seconds * 1000)
  const entries: TimelineEntry[] = [{ at: createdAt, event: 'created' }]
  for (const { kind, amount, actual, at } of ledger) {
    const event = {
      reserve: `reserved ${amount}`,
      settle: `settled at ${actual}`,
      release: `released: ${withoutUrls(job.error ?? 'failed')}`,
      // A job has none of these.
      grant: 'granted',
      adjust: 'adjusted',
    }[kind]
    entries.push({ at: Date.parse(at), event })
  }
  if (job.submittedAt !== undefined) {
    entries.push({ at: atSecond(job.submittedAt), event: `claimed for channel ${job.channelId}`, doneBy: 'Submit' })
  }
  if (job.finishedAt !== undefined) {
    entries.push({ at: atSecond(job.finishedAt), event: 'a poll found it finished upstream', doneBy: 'Poll' })
  }
  return entries
}

/** An upstream's error may name a file of the client, and so does the error about a refused reference. */
export function withoutUrls(text: string): string {
  return withoutFileName(text).replaceAll(/\b(https?:\/\/|data:)\S+/gi, '<url>')
}

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
