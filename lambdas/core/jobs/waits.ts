import type { VideoChannel } from '../catalogue/channel.ts'
import type { VideoJobRequest } from '../catalogue/parameters.ts'
import { videoProvider } from '../providers/registry.ts'

/** The class for which start values were measured (95th percentile: 240 s). A configured interval applies to this class. */
const REFERENCE: UsualSeconds = { median: 90, early: 34 }

/** How far the usual times may stretch a configured first wait. */
const FIRST_FACTOR_MAX = 4

/** A job of this age is polled rarely. */
const SLOW_AFTER_SECONDS = 600
const SLOW_INTERVAL_SECONDS = { min: 30, max: 60 }

const THROTTLED_SECONDS_MIN = 2

/** Together with the longest queue, deadline and store, within the time limit of an execution. */
const GRACE_SECONDS = { min: 60, max: 1_800 }

/** Waits vary by a fifth either way, so that jobs created together do not poll together. */
const JITTER = 0.2

type PollWait = {
  readonly channel: VideoChannel
  /** Since the submit. */
  readonly elapsedSeconds: number
  /** Jobs that hold a slot of the channel. */
  readonly openJobs: number
  /** From 0 up to 1. */
  readonly random: number
  /** The usual times of the job's class; undefined until enough of its jobs have finished. */
  readonly usual?: UsualSeconds | undefined
}

/** Whole seconds before the first poll of a submitted job. */
export function firstPollWait(channel: VideoChannel, random: number, usual?: UsualSeconds): number {
  const { first, interval } = configuredWaits(channel)
  const seconds =
    usual === undefined ? first : within(usual.early, Math.min(first, interval), stretched(first, FIRST_FACTOR_MAX))
  return jittered(seconds, random)
}

/**
 * Whole seconds until the next poll, stretched so that all open jobs of the channel together stay under its
 * `requests_per_second`, and never beyond the job's deadline by more than a second.
 */
export function nextPollWait({ channel, elapsedSeconds, openJobs, random, usual }: PollWait): number {
  const interval = intervalOf(channel, usual)
  const wait = Math.max(rhythm(interval, elapsedSeconds, random), share(channel, openJobs, random))
  return beforeDeadline(wait, channel, elapsedSeconds)
}

/**
 * Whole seconds until a job tries again after it got no token for a poll. Many jobs that began together may be waiting: an
 * eighth of a job's share spreads them without delaying any of them.
 */
export function throttledWait({ channel, elapsedSeconds, openJobs, random }: PollWait): number {
  const wait = Math.max(THROTTLED_SECONDS_MIN, Math.ceil(share(channel, openJobs, random) / 8))
  return beforeDeadline(wait, channel, elapsedSeconds - pollGrace(channel, openJobs))
}

/**
 * Seconds beyond its deadline that a job without a token may wait for its last poll: twice its share of the channel, within
 * bounds. Without that poll, a video that was finished long ago would be lost.
 */
export function pollGrace(channel: VideoChannel, openJobs: number): number {
  return within(2 * share(channel, openJobs, 0), GRACE_SECONDS.min, GRACE_SECONDS.max)
}

function beforeDeadline(wait: number, channel: VideoChannel, elapsedSeconds: number): number {
  const untilDeadline = channel.deadline_minutes * 60 - elapsedSeconds + 1
  return Math.max(1, Math.min(wait, Math.ceil(untilDeadline)))
}

function configuredWaits({ provider, poll }: VideoChannel): { first: number; interval: number } {
  const { first, interval } = videoProvider(provider).polling
  return { first: poll.first_seconds ?? first, interval: poll.interval_seconds ?? interval }
}

/**
 * The interval with the best balance of cost and lag grows with the square root of the spread of the class's times around the
 * median (the inverse of the hazard there). An interval that changes with the job's age gains too little for its formula.
 */
function intervalOf(channel: VideoChannel, usual: UsualSeconds | undefined): number {
  const { interval } = configuredWaits(channel)
  if (usual === undefined) {
    return interval
  }
  const { intervalFactorMax: factorMax } = videoProvider(channel.provider).polling
  const seconds = interval * Math.sqrt(spread(usual) / spread(REFERENCE))
  return within(seconds, interval / factorMax, stretched(interval, factorMax))
}

/** In seconds, up to a constant factor: the median of a lognormal distribution times its deviation. */
function spread({ early, median }: UsualSeconds): number {
  return median * Math.log(median / early)
}

/** A wait multiplied, except that one second stays one second. */
function stretched(seconds: number, times: number): number {
  return 1 + times * (seconds - 1)
}

function within(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value))
}

/** The slow interval is already random and gets no jitter. */
function rhythm(interval: number, elapsedSeconds: number, random: number): number {
  const usual = jittered(interval, random)
  const { min, max } = SLOW_INTERVAL_SECONDS
  return elapsedSeconds > SLOW_AFTER_SECONDS ? Math.max(usual, Math.round(min + random * (max - min))) : usual
}

/** The wait that leaves the other jobs of the channel their polls. Jitter only lengthens it: a shorter wait would break the limit. */
function share(channel: VideoChannel, openJobs: number, random: number): number {
  const { requests_per_second } = channel.poll
  return requests_per_second === undefined ? 0 : Math.ceil((openJobs / requests_per_second) * (1 + JITTER * random))
}

/** A tenth of the time already waited, within these bounds. */
const CHANNEL_WAIT_SECONDS = { min: 5, max: 30 }

/** Whole seconds until a queued job tries the channels again: the longer it has waited, the longer. */
export function channelWait(waitedSeconds: number, random: number): number {
  return jittered(Math.min(CHANNEL_WAIT_SECONDS.max, Math.max(CHANNEL_WAIT_SECONDS.min, waitedSeconds / 10)), random)
}

/** One second stays one second, for a configuration that polls every second. */
function jittered(seconds: number, random: number): number {
  return Math.max(1, Math.round(seconds * (1 - JITTER + 2 * JITTER * random)))
}

/**
 * How long the jobs of one class take (docs/decisions/0071). A *class* is one
 * channel, upstream model, length and resolution. Generation times are close to lognormal, so all sums are over logarithms.
 */

/** Sums over some finished jobs, in thousandths of the natural logarithm of their seconds: integers, so that any order adds up. */
export type TimeSums = { readonly samples: number; readonly logSum: number; readonly logSquares: number }

/** The usual times of a class, in whole seconds: one job in twenty has finished by `early`, half of them by `median`. */
export type UsualSeconds = { readonly early: number; readonly median: number }

/** The class of a job within its channel, and the usual times of the class when the job was accepted. */
export type JobTiming = { readonly className: string; readonly usual?: UsualSeconds | undefined }

/** Estimates use the current window and the one before it: the latest 50 to 100 jobs. */
export const WINDOW_SAMPLES = 50

/** Fewer samples give no estimate. */
const SAMPLES_MIN = 8

const LOG_UNITS = 1000

/** Standard deviations from the median of a normal law down to its fifth percentile. */
const EARLY_DEVIATIONS = 1.645

/** The next job may differ, however similar the last ones were. */
const DEVIATION_MIN = 0.1

/** No upstream finishes sooner, and no channel's deadline is later (six hours). */
const SECONDS = { min: 1, max: 21_600 }

/** A submit is recorded in whole seconds, and clocks differ. */
const CLOCK_SLACK_SECONDS = 2

/** The class of a job within its channel, as a sort key of the table. */
export function classNameOf(
  upstreamModelId: string,
  { duration, resolution }: Pick<VideoJobRequest, 'duration' | 'resolution'>,
): string {
  return `${upstreamModelId}#${duration}#${resolution}`
}

type Observation = {
  /** From the upstream's reply that reports success. */
  readonly reportedSeconds: number | undefined
  /** From the submit to the poll that found the job finished. */
  readonly elapsedSeconds: number
  /** The wait before that poll; undefined when unknown. */
  readonly waitedSeconds: number | undefined
}

/**
 * The generation time to learn from a finished job: what the upstream reports, or else the middle of the last wait.
 * Undefined when neither is plausible: zero, negative, beyond any deadline, or longer than the job has existed.
 */
export function sampleSeconds({ reportedSeconds, elapsedSeconds, waitedSeconds }: Observation): number | undefined {
  const middle = waitedSeconds === undefined ? undefined : elapsedSeconds - Math.min(waitedSeconds, elapsedSeconds) / 2
  const longest = Math.min(SECONDS.max, elapsedSeconds + CLOCK_SLACK_SECONDS)
  return [reportedSeconds, middle].find(
    (seconds) => seconds !== undefined && seconds >= SECONDS.min && seconds <= longest,
  )
}

/**
 * How long a finished job waited at the upstream until a poll found it: by the upstream's own time if that is plausible,
 * or else at most the wait before that poll. Undefined when neither is known.
 */
export function detectionLagSeconds({
  reportedSeconds,
  elapsedSeconds,
  waitedSeconds,
}: Observation): number | undefined {
  const isBelievable =
    reportedSeconds !== undefined &&
    reportedSeconds >= SECONDS.min &&
    reportedSeconds <= elapsedSeconds + CLOCK_SLACK_SECONDS
  return isBelievable ? Math.max(0, elapsedSeconds - reportedSeconds) : waitedSeconds
}

/** The sums of one job. @param seconds from {@link sampleSeconds}. */
export function sumsOf(seconds: number): TimeSums {
  const log = Math.round(LOG_UNITS * Math.log(seconds))
  return { samples: 1, logSum: log, logSquares: log * log }
}

/** The usual times by these sums together; undefined when they have too few samples. */
export function usualSeconds(windows: readonly TimeSums[]): UsualSeconds | undefined {
  const total = (field: keyof TimeSums) => windows.reduce((sum, window) => sum + window[field], 0)
  const samples = total('samples')
  if (samples < SAMPLES_MIN) {
    return undefined
  }
  const mean = total('logSum') / samples
  const variance = Math.max(0, total('logSquares') - mean * total('logSum')) / (samples - 1)
  const deviation = Math.max(DEVIATION_MIN, Math.sqrt(variance) / LOG_UNITS)
  const median = Math.exp(mean / LOG_UNITS)
  return { early: wholeSeconds(median * Math.exp(-EARLY_DEVIATIONS * deviation)), median: wholeSeconds(median) }
}

function wholeSeconds(seconds: number): number {
  return Math.min(SECONDS.max, Math.max(SECONDS.min, Math.round(seconds)))
}
