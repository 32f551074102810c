/**
 * How long the jobs of one class take (docs/decisions/0071). A *class* is one
 * channel, upstream model, length and resolution. Generation times are close to lognormal, so all sums are over logarithms.
 */
import type { VideoJobRequest } from '../parameters/video-parameters.ts'

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
