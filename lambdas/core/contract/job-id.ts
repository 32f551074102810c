const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether a text could be the id of a job as the gateway writes it (a UUID in lower case). */
export function isJobId(text: string): boolean {
  return UUID.test(text)
}
