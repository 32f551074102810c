import type { Measure } from '#core/telemetry/measures.ts'
import { measure } from './measure.ts'

/**
 * What an upstream did wrong, by how it would be looked into: `connect`: no byte of the request left; `timeout`: no answer in
 * time; `broken_answer`: the connection ended before the answer did; `odd_body`: a success that is not of its wire; the rest
 * by status: 429, other 4xx, 5xx.
 */
type UpstreamErrorClass =
  | 'connect_error'
  | 'timeout'
  | 'broken_answer'
  | 'odd_body'
  | 'rate_limited'
  | 'client_error'
  | 'server_error'

/** Counts one failed call of a channel. A call that was sent again counts again. */
export function countUpstreamError(errorClass: UpstreamErrorClass, channelId: string): void {
  const name: Measure = `upstream_${errorClass}`
  measure({ [name]: 1 }, { channel: channelId })
}

/** The class of an answer by its status; undefined below 400. */
export function errorClassOfStatus(status: number): UpstreamErrorClass | undefined {
  if (status < 400) {
    return undefined
  }
  if (status === 429) {
    return 'rate_limited'
  }
  return status < 500 ? 'client_error' : 'server_error'
}
