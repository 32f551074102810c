import type { Measure } from '#core/telemetry/measures.ts'
import { measure } from './measure.ts'

/**
 * The classes of upstream errors. `connect_error`: no byte of the request was sent. `timeout`: no reply in time. `broken_answer`:
 * the connection ended before the reply did. `odd_body`: a success that does not follow its wire contract. The others are by
 * status: 429, other 4xx, 5xx.
 */
type UpstreamErrorClass =
  | 'connect_error'
  | 'timeout'
  | 'broken_answer'
  | 'odd_body'
  | 'rate_limited'
  | 'client_error'
  | 'server_error'

/** Counts one failed call of a channel. A repeated call counts again. */
export function countUpstreamError(errorClass: UpstreamErrorClass, channelId: string): void {
  const name: Measure = `upstream_${errorClass}`
  measure({ [name]: 1 }, { channel: channelId })
}

/** The class of a reply by its status; undefined below 400. */
export function errorClassOfStatus(status: number): UpstreamErrorClass | undefined {
  if (status < 400) {
    return undefined
  }
  if (status === 429) {
    return 'rate_limited'
  }
  return status < 500 ? 'client_error' : 'server_error'
}
