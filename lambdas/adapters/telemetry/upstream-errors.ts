import { numberOfErrorClass, type UpstreamErrorClass } from '#core/measures.ts'
import { measure } from './measure.ts'
import type { Measured } from './measure-observer.ts'
import { tellObserver } from './upstream-observer.ts'

/** Counts an error of a channel whose reply had begun. A repeated call counts again. */
export function countUpstreamError(errorClass: UpstreamErrorClass, channelId: string): void {
  tellObserver({ channelId, errorClass })
  measure(errorMeasures(errorClass), { channel: channelId, reason: errorClass })
}

/** What counts an error of a class. */
export function errorMeasures(errorClass: UpstreamErrorClass): Measured {
  const isUnreachable = errorClass === 'connect_error'
  return { upstream_error: numberOfErrorClass(errorClass), ...(isUnreachable ? { upstream_connect_error: 1 } : {}) }
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
