import { OVERLAP_MILLISECONDS } from '#lambdas/admin/keys/rotate-key.ts'
import { UsageError } from '../../terminal/usage-error.ts'

const UNIT_MILLISECONDS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 60 * 60_000,
  d: 24 * 60 * 60_000,
}

/** A hundred years: anything longer is a mistake. */
const DURATION_MILLISECONDS_MAX = 36_525 * 24 * 60 * 60_000

const ISO_TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/

/** The default of `--overlap`, for people. */
export const OVERLAP_DEFAULT = `${OVERLAP_MILLISECONDS / 3_600_000}h`

/** How long what is replaced goes on to work, in milliseconds. @throws UsageError. */
export function readOverlap(text = OVERLAP_DEFAULT): number {
  const milliseconds = durationOf(text)
  if (milliseconds === undefined) {
    throw new UsageError(`--overlap ${text}: use a duration such as 30m, 24h or 90d`)
  }
  return milliseconds
}

/**
 * A date (`2027-01-31`, the start of that day in UTC) or a time with its zone, in unix milliseconds.
 * @throws UsageError naming the option.
 */
export function readTime(option: string, text: string): number {
  const milliseconds = parseTime(text)
  if (milliseconds === undefined) {
    throw new UsageError(`--${option} ${text}: use a date such as 2027-01-31 or a time such as 2027-01-31T12:00:00Z`)
  }
  return milliseconds
}

/** A time in the future, from a duration, a date or a time, in unix milliseconds. @throws UsageError. */
export function readEnd(option: string, text: string, nowMilliseconds: number): number {
  const duration = durationOf(text)
  const end = duration === undefined ? parseTime(text) : nowMilliseconds + duration
  if (end === undefined) {
    throw new UsageError(`--${option} ${text}: use a duration such as 90d, or a date such as 2027-01-31`)
  }
  if (end <= nowMilliseconds) {
    throw new UsageError(`--${option} ${text}: use a time in the future`)
  }
  return end
}

/** A time in the past, from a duration before now, a date or a time, in unix milliseconds. @throws UsageError. */
export function readStart(option: string, text: string, nowMilliseconds: number): number {
  const duration = durationOf(text)
  const start = duration === undefined ? parseTime(text) : nowMilliseconds - duration
  if (start === undefined) {
    throw new UsageError(`--${option} ${text}: use a duration such as 24h or 7d, or a date such as 2026-11-01`)
  }
  return Math.max(0, start)
}

function durationOf(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? []
  const milliseconds = Number(count) * (UNIT_MILLISECONDS[unit] ?? Number.NaN)
  return milliseconds <= DURATION_MILLISECONDS_MAX ? milliseconds : undefined
}

function parseTime(text: string): number | undefined {
  const milliseconds = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN
  // A day that the month does not have would roll over into the next month.
  const isReal =
    !Number.isNaN(milliseconds) &&
    new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().startsWith(text.slice(0, 10))
  return isReal ? milliseconds : undefined
}
