import type { Measure } from '#core/measures.ts'

/** Numbers that were measured together. */
export type Measured = Readonly<Partial<Record<Measure, number | undefined>>>

type Observe = (values: Measured) => void

let observer: Observe | undefined

/** Tells everything that is measured from now on to a local host, which has no CloudWatch. */
export function observeMeasures(observe: Observe): void {
  observer = observe
}

/** Tells the observer, if there is one. */
export function tellMeasured(values: Measured): void {
  observer?.(values)
}
