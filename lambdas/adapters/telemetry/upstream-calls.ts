import type { UpstreamErrorClass } from '#core/measures.ts'
import { measure } from './measure.ts'
import { errorMeasures } from './upstream-errors.ts'
import { tellObserver } from './upstream-observer.ts'

/** One call of a channel. */
type UpstreamCall = {
  readonly channelId: string
  /** From the begin of the call to the head of the reply, or to the failure. */
  readonly milliseconds: number
  /** Undefined for a reply below 400. */
  readonly errorClass: UpstreamErrorClass | undefined
}

/**
 * Measures one call of a channel and counts its error. The line of a success is written in a later turn of the event loop,
 * so that the first byte of a reply does not wait for it; on an observed host there is none.
 */
export function measureUpstreamCall(call: UpstreamCall): void {
  const { channelId, milliseconds, errorClass } = call
  const isObserved = tellObserver(call)
  if (errorClass !== undefined) {
    const about = { channel: channelId, reason: errorClass }
    measure({ upstream_milliseconds: milliseconds, ...errorMeasures(errorClass) }, about)
  } else if (!isObserved) {
    setImmediate(() => measure({ upstream_milliseconds: milliseconds }, { channel: channelId }))
  }
}
