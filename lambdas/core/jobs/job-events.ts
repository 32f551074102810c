import { formatCredits } from '../money.ts'
import { hasEnded, isCancelledByOperator, isTerminal, isUnwanted, type VideoJob, visibleError } from './video-job.ts'

/** How far an open job is. Only a job that has succeeded is at 100. */
export type JobPercent = {
  /** Whole, from 0 to 100. */
  readonly percent: number
  /** Whole seconds until the usual end of such a job; absent if it is unknown, or the job takes longer than usual. */
  readonly etaSeconds?: number | undefined
}

type Job = Pick<VideoJob, 'status' | 'finishedAt' | 'submittedAt' | 'timing' | 'upstreamPercent'>

const OPEN_MAX = 99

/** An estimate reaches this at the usual time, and approaches the next bound as long as the job takes longer. */
const ESTIMATE = { atMedian: 90, max: 98 }

/** Covers the time between a poll and its write, and the difference of two clocks. */
const SLACK_SECONDS = 5

/**
 * How far a job is: what its upstream says, or else what the usual times of its class say. For one record and its successors the
 * percentage never decreases with time. Undefined before the upstream has accepted the job, if nothing is known, and for a failed job.
 */
export function jobPercent(job: Job, nowSeconds: number): JobPercent | undefined {
  if (job.status !== 'processing') {
    return job.status === 'succeeded' ? { percent: 100 } : undefined
  }
  if (job.finishedAt !== undefined) {
    return { percent: OPEN_MAX }
  }
  const percent = openPercent(job, nowSeconds)
  return percent === undefined ? undefined : { percent, etaSeconds: etaSeconds(job, percent, nowSeconds) }
}

function openPercent(job: Job, nowSeconds: number): number | undefined {
  const reported = job.upstreamPercent
  if (reported === undefined) {
    return estimatedPercent(job, nowSeconds)
  }
  // Readers may have seen estimates until the first report, so no later percentage is below them.
  const { percent, since } = reported
  const seen = since === undefined ? undefined : estimatedPercent(job, since + SLACK_SECONDS)
  return Math.min(OPEN_MAX, Math.max(Math.trunc(percent), seen ?? 0))
}

function estimatedPercent(job: Job, atSeconds: number): number | undefined {
  const median = job.timing?.usual?.median
  if (median === undefined) {
    return undefined
  }
  const { atMedian, max } = ESTIMATE
  const share = elapsedSeconds(job, atSeconds) / median
  return Math.trunc(share <= 1 ? atMedian * share : atMedian + (max - atMedian) * (1 - Math.exp(1 - share)))
}

/**
 * The share of the usual time for which it tells the end: a job that still runs after that is more likely to be slow than about to end. The
 * same holds for a job whose upstream reports less than this share of what is usual.
 */
const ETA = { shareMax: 0.8, percentShareMin: 0.5 } as const

function etaSeconds(job: Job, percent: number, nowSeconds: number): number | undefined {
  const median = job.timing?.usual?.median
  if (median === undefined) {
    return undefined
  }
  const elapsed = elapsedSeconds(job, nowSeconds)
  const isSlow = percent < ETA.percentShareMin * (estimatedPercent(job, nowSeconds) ?? 0)
  return elapsed > ETA.shareMax * median || isSlow ? undefined : Math.ceil(median - elapsed)
}

function elapsedSeconds({ submittedAt }: Job, atSeconds: number): number {
  return submittedAt === undefined ? 0 : Math.max(0, atSeconds - submittedAt)
}

/** Every type of an event, in the order in which a job goes through them. */
export const JOB_EVENT_TYPES = [
  'queued',
  'submitted',
  'processing',
  'progress',
  'finished',
  'stored',
  'settled',
  'succeeded',
  'failed',
  'cancelled',
  'callback',
] as const

/** What happened. */
type JobEventType = (typeof JOB_EVENT_TYPES)[number]

/** One event of a job, as clients see it. */
export type JobEvent = {
  /** The same for the same event, whenever it is read: the type, or `progress:37`, `callback:1`. */
  readonly id: string
  readonly type: JobEventType
  /** Unix seconds; never before the event in front of it. */
  readonly at: number
  /** Of `progress`: whole, never below an earlier one, 100 only after success. */
  readonly percent?: number
  /** Of `progress`: whole seconds, absent if unknown. */
  readonly eta_seconds?: number
  /** Of `settled`: credits as a decimal string. */
  readonly cost?: string
  /** Of `failed` and `cancelled`. */
  readonly error?: string
  /** Of `callback`: HTTP status of the receiver; null without a response. */
  readonly status?: number | null
  /** Of `callback`: from 1. */
  readonly attempt?: number
}

/** An event whose time may be unknown, because a process died before it recorded the time: it then happened with the event in front of it. */
type Found = Omit<JobEvent, 'id' | 'at'> & { readonly at: number | undefined; readonly id?: string }

/**
 * The events of a job until now, in order. An event stays in every later list, except `progress`, of which a list has the
 * current one.
 */
export function jobEvents(job: VideoJob, nowSeconds: number): readonly JobEvent[] {
  let latest = job.createdAt
  const end = job.cancelledAt === undefined ? endEvents(job, nowSeconds) : cancellationEvents(job, nowSeconds)
  return [...workEvents(job, nowSeconds), ...end].map((found) => {
    latest = Math.max(latest, Math.trunc(found.at ?? latest))
    const { type, ...details } = found
    return { id: eventId(found), type, ...details, at: latest }
  })
}

function eventId({ id, type, percent, attempt }: Found): string {
  const number = percent ?? attempt
  if (id !== undefined) {
    return id
  }
  return number === undefined ? type : `${type}:${number}`
}

function workEvents(job: VideoJob, nowSeconds: number): Found[] {
  const { submittedAt, acceptedAt, finishedAt, storedAt, cancelledAt } = job
  const found: Found[] = [{ type: 'queued', at: job.createdAt }]
  // What an upstream still does for a cancelled job is no event: it would stand in front of the cancellation that was listed before.
  const counts = (at: number) => cancelledAt === undefined || at <= cancelledAt
  const isAccepted = acceptedAt !== undefined && counts(acceptedAt)
  // A claim may be given back, and an event that was listed must not disappear.
  if (submittedAt !== undefined && (isAccepted || (cancelledAt === undefined && isTerminal(job)))) {
    found.push({ type: 'submitted', at: submittedAt })
  }
  if (isAccepted) {
    found.push({ type: 'processing', at: acceptedAt })
  }
  const progress =
    job.status === 'processing' && !isUnwanted(job) && finishedAt === undefined
      ? jobPercent(job, nowSeconds)
      : undefined
  if (progress !== undefined) {
    const { percent, etaSeconds } = progress
    const eta = etaSeconds === undefined ? {} : { eta_seconds: etaSeconds }
    found.push({ type: 'progress', at: nowSeconds, percent, ...eta })
  }
  if (finishedAt !== undefined && counts(finishedAt)) {
    found.push({ type: 'finished', at: finishedAt })
  }
  if (storedAt !== undefined && counts(storedAt)) {
    found.push({ type: 'stored', at: storedAt })
  }
  return found
}

function endEvents(job: VideoJob, nowSeconds: number): Found[] {
  const { endedAt: at, billed } = job
  if (job.status === 'succeeded') {
    return [
      { type: 'progress', at, percent: 100 },
      { type: 'settled', at, ...(billed === undefined ? {} : { cost: formatCredits(billed) }) },
      { type: 'succeeded', at },
      ...callbackEvents(job, nowSeconds),
    ]
  }
  if (job.status !== 'failed') {
    return []
  }
  const error = job.error ?? ''
  return [{ type: isCancelledByOperator(job) ? 'cancelled' : 'failed', at, error }, ...callbackEvents(job, nowSeconds)]
}

/**
 * A job that its client cancels ends at once for the client, and its callback is sent. Its upstream may finish minutes later and bill
 * it: that settlement has an id of its own, and waits for the first callback, so that no event is put in front of an earlier one.
 */
function cancellationEvents(job: VideoJob, nowSeconds: number): Found[] {
  const callbacks = callbackEvents(job, nowSeconds)
  const isFirst = ({ attempt }: Found) => attempt === 1
  const isBilled = isTerminal(job) && job.billed !== undefined && isFirstCallbackOver(job, nowSeconds)
  return [
    { type: 'cancelled', at: job.cancelledAt, error: visibleError(job) },
    ...callbacks.filter(isFirst),
    ...(isBilled
      ? [{ id: 'settled:1', type: 'settled', at: job.endedAt, cost: formatCredits(job.billed) } as const]
      : []),
    ...callbacks.filter((callback) => !isFirst(callback)),
  ]
}

/** A callback takes at most half a minute; one without a recorded outcome after this was sent, and its outcome is unknown. */
const CALLBACK_SECONDS_MAX = 60

function callbackEvents(job: VideoJob, nowSeconds: number): Found[] {
  if (!hasEnded(job)) {
    return []
  }
  const attempts = job.callbackAttempts ?? []
  if (attempts.length > 0) {
    // One that was sent again waits for the first and for a late bill, which stand in front of it: a stream would have passed them by.
    const listed = isComplete(job, nowSeconds) ? attempts : attempts.filter(({ attempt }) => attempt === 1)
    return listed.map(({ at, attempt, status = null }) => ({ type: 'callback', at, status, attempt }))
  }
  const isUnknown = job.callbackState === 'sent' && isCallbackOver(job, nowSeconds)
  return isUnknown ? [{ type: 'callback', at: undefined, status: null, attempt: 1 }] : []
}

function isCallbackOver({ cancelledAt, endedAt = 0 }: VideoJob, nowSeconds: number): boolean {
  return nowSeconds >= (cancelledAt ?? endedAt) + CALLBACK_SECONDS_MAX
}

/** Whether the callback that follows the end of a job is not due, or has an outcome, or is not waited for any longer. */
function isFirstCallbackOver(job: VideoJob, nowSeconds: number): boolean {
  const isDue = job.callbackUrl !== undefined && !job.isDeleted
  const hasOutcome = job.callbackAttempts?.some(({ attempt }) => attempt === 1) ?? false
  return !isDue || hasOutcome || isCallbackOver(job, nowSeconds)
}

/**
 * Whether nothing more is expected: the job has ended, and its callback, if one is due, has an event or is not waited for any
 * longer. Only a callback that is sent again adds an event later.
 */
export function isComplete(job: VideoJob, nowSeconds: number): boolean {
  return isTerminal(job) && isFirstCallbackOver(job, nowSeconds)
}

/** The place of an event in the order of all events of its job. */
export type EventPosition = readonly [rank: number, number: number]

/** The place before the first event. */
export const FIRST: EventPosition = [-1, 0]

const ID = /^([a-z]+)(?::(\d{1,9}))?$/

/** Where `progress:100` stands: behind everything that an upstream does, before the settlement. */
const BEFORE_THE_BILL = JOB_EVENT_TYPES.indexOf('settled') - 0.5

/** Where `settled:1` of a cancelled job stands: behind its first callback, before those that are sent again. */
const LATE_BILL = JOB_EVENT_TYPES.indexOf('callback') + 1
const SENT_AGAIN = LATE_BILL + 1

/** The place of an event by its id, such as a client sends in `Last-Event-ID`; {@link FIRST} for anything else. */
export function positionOf(id: string): EventPosition {
  const [, type, number = '0'] = ID.exec(id) ?? []
  const types: readonly string[] = JOB_EVENT_TYPES
  const rank = types.indexOf(type ?? '')
  if (rank === -1) {
    return FIRST
  }
  return [exceptionOf(type, Number(number)) ?? rank, Number(number)]
}

function exceptionOf(type: string | undefined, number: number): number | undefined {
  switch (type) {
    case 'progress':
      return number >= 100 ? BEFORE_THE_BILL : undefined
    case 'settled':
      return number >= 1 ? LATE_BILL : undefined
    case 'callback':
      return number > 1 ? SENT_AGAIN : undefined
    default:
      return undefined
  }
}

/** The events behind a place. Every later list of the same job has the same events there, and more. */
export function eventsAfter(events: readonly JobEvent[], position: EventPosition): readonly JobEvent[] {
  return events.filter(({ id }) => isAfter(positionOf(id), position))
}

function isAfter([rank, number]: EventPosition, [otherRank, otherNumber]: EventPosition): boolean {
  return rank === otherRank ? number > otherNumber : rank > otherRank
}
