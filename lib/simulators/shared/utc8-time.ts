const UTC8_OFFSET_MS = 8 * 60 * 60 * 1000

/** `YYYY-MM-DD HH:MM:SS.mmm` in UTC+8 without a zone, as P1 writes times. */
export function utc8Time(timeMs: number): string {
  return new Date(timeMs + UTC8_OFFSET_MS).toISOString().replace('T', ' ').replace('Z', '')
}

/** `yyyymmddHHMMSS` in UTC+8, as P2 puts into task ids. */
export function utc8Digits(timeMs: number): string {
  return utc8Time(timeMs).slice(0, 19).replaceAll(/\D/g, '')
}
