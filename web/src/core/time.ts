/** How times are shown in the whole console. */
export type TimeZone = 'utc' | 'local'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/**
 * A time as a person says it: `just now`, `4 min ago`, `in 2 h`, `3 d ago`. Older and later times than 30 days are dates.
 * @param at and `now` are Unix seconds.
 */
export function relativeTime(at: number, now: number, zone: TimeZone): string {
  const seconds = Math.abs(now - at)
  if (seconds < 10) {
    return 'just now'
  }
  if (seconds >= 30 * DAY) {
    return absoluteTime(at, zone).slice(0, 10)
  }
  const words = durationWords(seconds)
  return at > now ? `in ${words}` : `${words} ago`
}

function durationWords(seconds: number): string {
  if (seconds < MINUTE) {
    return `${Math.floor(seconds)} s`
  }
  if (seconds < HOUR) {
    return `${Math.floor(seconds / MINUTE)} min`
  }
  return seconds < DAY ? `${Math.floor(seconds / HOUR)} h` : `${Math.floor(seconds / DAY)} d`
}

/** `2026-11-22 22:49:10 UTC`, or the same of the browser's zone with its offset. `at` is in Unix seconds. */
export function absoluteTime(at: number, zone: TimeZone): string {
  const time = new Date(at * 1000)
  if (Number.isNaN(time.getTime())) {
    return 'unknown'
  }
  if (zone === 'utc') {
    return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`
  }
  const offset = -time.getTimezoneOffset()
  const shifted = new Date(time.getTime() + offset * 60_000).toISOString().slice(0, 19).replace('T', ' ')
  return `${shifted} ${offsetOf(offset)}`
}

function offsetOf(minutes: number): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `UTC${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
}

/** A time of the API: ISO 8601, or Unix seconds. */
export type ApiTime = number | string

/** The Unix seconds of a time of the API. */
export function unixSecondsOf(at: ApiTime): number {
  return typeof at === 'number' ? at : Date.parse(at) / 1000
}

/** `2026-11-22T22:49:10.000Z`: how files and copies hold a time. Null stays null. */
export function isoTime(at: ApiTime | null): string | null {
  const time = new Date(at === null ? Number.NaN : unixSecondsOf(at) * 1000)
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}

/** The time of day alone, such as `22:49:10`, for "as of". */
export function clockTime(at: number, zone: TimeZone): string {
  return absoluteTime(at, zone).slice(11, 19)
}

/** `4.2 s`, `1 min 20 s` or `2 h 5 min`. */
export function duration(seconds: number): string {
  if (seconds < MINUTE) {
    return `${Number(seconds.toFixed(1))} s`
  }
  if (seconds < HOUR) {
    return `${Math.floor(seconds / MINUTE)} min ${Math.floor(seconds % MINUTE)} s`
  }
  return `${Math.floor(seconds / HOUR)} h ${Math.floor((seconds % HOUR) / MINUTE)} min`
}

/** The days, as `YYYY-MM-DD` in UTC, that end today and number `count`; the oldest first. `now` is in Unix seconds. */
export function lastDays(count: number, now: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    new Date((now - (count - 1 - index) * DAY) * 1000).toISOString().slice(0, 10),
  )
}

/** The Unix seconds at which a UTC day begins; undefined if the string is no day. */
export function startOfDay(day: string): number | undefined {
  const milliseconds = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000
}

/** The Unix seconds at which a UTC day ends, which is when the next one begins; undefined if the string is no day. */
export function endOfDay(day: string): number | undefined {
  const start = startOfDay(day)
  return start === undefined ? undefined : start + DAY
}

/** The begin and the end of a UTC day as requests have times, in ISO 8601; undefined if the string is no day. */
export function dayTimes(day: string): { readonly start: string | undefined; readonly end: string | undefined } {
  const [start, end] = [startOfDay(day), endOfDay(day)].map((at) => isoTime(at ?? null) ?? undefined)
  return { start, end }
}

/** A chart of more days cannot be read. */
const DAYS_MAX = 366

/** Each day from one to another, both included; at most a year, the latest ones. Empty if either is no day. */
export function daysBetween(from: string, to: string): string[] {
  const [start, end] = [startOfDay(from), startOfDay(to)]
  if (start === undefined || end === undefined || end < start) {
    return []
  }
  return lastDays(Math.min(DAYS_MAX, Math.round((end - start) / DAY) + 1), end)
}
