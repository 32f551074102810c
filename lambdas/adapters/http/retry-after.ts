/** The pipeline decides about longer waits. */
const RETRY_AFTER_SECONDS_MAX = 3_600

/**
 * Reads the `Retry-After` header, which holds seconds or an HTTP date (RFC 9110, 10.2.3), as whole seconds from now, rounded up
 * and at most an hour. Undefined when it is missing or unreadable.
 */
export function retryAfterSeconds(header: string | undefined, nowUnixMilliseconds: number): number | undefined {
  const text = header?.trim() ?? ''
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : (Date.parse(text) - nowUnixMilliseconds) / 1_000
  return Number.isNaN(seconds) ? undefined : Math.min(RETRY_AFTER_SECONDS_MAX, Math.max(0, Math.ceil(seconds)))
}
