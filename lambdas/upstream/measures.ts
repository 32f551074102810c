import { numberOfErrorClass, type UpstreamErrorClass } from '#core/measures.ts'
import { type Measured, measure } from '../platform/telemetry/measures.ts'

/** What happened on a channel: a call, an error, or both. */
export type UpstreamFact = {
  readonly channelId: string
  /** Of a call, from its begin to the head of the reply or to the failure; undefined for an error after the head. */
  readonly milliseconds?: number
  readonly errorClass?: UpstreamErrorClass | undefined
}

type Observe = (fact: UpstreamFact) => void

let observer: Observe | undefined

/** Tells every fact from now on to a local host, which has no CloudWatch. */
export function observeUpstreams(observe: Observe): void {
  observer = observe
}

/** @returns whether anybody observes. */
export function tellObserver(fact: UpstreamFact): boolean {
  observer?.(fact)
  return observer !== undefined
}

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
  return status < 500 ? 'http_4xx' : 'http_5xx'
}

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
