/** Whether a string is a day of the calendar, `yyyy-mm-dd`. */
export function isDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

const DAY_MILLISECONDS = 86_400_000

const FIRST_DAY = Date.parse('0000-01-01')

/** The day this many days before another; the first day of the calendar at the earliest. */
export function daysBefore(day: string, count: number): string {
  const time = Math.max(Date.parse(day) - count * DAY_MILLISECONDS, FIRST_DAY)
  return new Date(time).toISOString().slice(0, day.length)
}
