import type { UpstreamErrorClass } from '#core/measures.ts'

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
