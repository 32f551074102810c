/**
 * The classes of upstream errors. `connect_error`: no byte of the request was sent. `timeout`: no reply in time. `broken_answer`:
 * the connection ended before the reply did. `odd_body`: a success that does not follow its wire contract. The others are by
 * status: 429, other 4xx, 5xx.
 */
export const UPSTREAM_ERROR_CLASSES = [
  'connect_error',
  'timeout',
  'broken_answer',
  'odd_body',
  'rate_limited',
  'client_error',
  'server_error',
] as const

/** One class of upstream errors. */
export type UpstreamErrorClass = (typeof UPSTREAM_ERROR_CLASSES)[number]

/** The number of a class in the metric `upstream_error`. */
export function numberOfErrorClass(errorClass: UpstreamErrorClass): number {
  return UPSTREAM_ERROR_CLASSES.indexOf(errorClass) + 1
}
