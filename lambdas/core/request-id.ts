/** A safe header value and log field. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/

/** Whether a value is a safe request id. Clients of API Gateway can choose theirs, and upstreams may send anything. */
export function isRequestId(value: unknown): value is string {
  return typeof value === 'string' && REQUEST_ID.test(value)
}
