const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether a string has the form of a job id: a UUID in lower case. */
export function isJobId(id: string): boolean {
  return UUID.test(id)
}

/** Unix milliseconds at which a job id was made: the first 48 bits of a UUID of version 7. */
export function jobIdMilliseconds(jobId: string): number {
  return Number.parseInt(jobId.replaceAll('-', '').slice(0, 12), 16)
}

const UUID_PARTS = /^[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Hexadecimal digits of a time in milliseconds, with which a UUID of version 7 begins. */
const TIME_DIGITS = 12

/**
 * A random UUID as one of version 7: ids sort by time, so that rows of the ledger do. All random bits but those of the time are kept,
 * so that both ids end alike. Any other string stays as it is.
 */
export function timeOrderedId(id: string, atMilliseconds: number): string {
  return UUID_PARTS.test(id) ? `${firstIdAt(atMilliseconds)}-7${id.slice('xxxxxxxx-xxxx-x'.length)}` : id
}

/** Where the ids of a millisecond begin: a prefix of all of them, and in front of those of later milliseconds. */
export function firstIdAt(atMilliseconds: number): string {
  const hex = Math.trunc(atMilliseconds).toString(16).padStart(TIME_DIGITS, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}

/** The position directly before an id, so that a range up to it excludes the id itself. */
export function justBefore(id: string): string {
  const last = id.charCodeAt(id.length - 1)
  return `${id.slice(0, -1)}${String.fromCharCode(last - 1)}~`
}

/** The time of a UUID of version 7 in milliseconds; undefined for any other string. */
export function timeOfId(id: string): number | undefined {
  return UUID_PARTS.exec(id)?.[1] === '7' ? Number.parseInt(id.replace('-', '').slice(0, TIME_DIGITS), 16) : undefined
}

/** A safe header value and log field. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/

/** Whether a value is a safe request id. Clients of API Gateway can choose theirs, and upstreams may send anything. */
export function isRequestId(value: unknown): value is string {
  return typeof value === 'string' && REQUEST_ID.test(value)
}
