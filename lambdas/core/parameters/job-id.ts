const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether a text could be the id of a job as the gateway writes it (a UUID in lower case). */
export function isJobId(text: string): boolean {
  return UUID.test(text)
}

/** Milliseconds since 1970 at which an id was made: the first 48 bits of a UUID of version 7. */
export function jobIdMilliseconds(jobId: string): number {
  return Number.parseInt(jobId.replaceAll('-', '').slice(0, 12), 16)
}
