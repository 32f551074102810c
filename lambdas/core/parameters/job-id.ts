const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether a string has the form of a job id: a UUID in lower case. */
export function isJobId(id: string): boolean {
  return UUID.test(id)
}

/** Unix milliseconds at which a job id was made: the first 48 bits of a UUID of version 7. */
export function jobIdMilliseconds(jobId: string): number {
  return Number.parseInt(jobId.replaceAll('-', '').slice(0, 12), 16)
}
