import type { CountedFact } from '#core/telemetry/counted-facts.ts'
import { type Dimensions, emit } from './measure.ts'

/** Counts one fact now, for the whole service and for what it is about: a channel, a model or a reason. */
export function count(fact: CountedFact, dimensions: Dimensions = {}): void {
  emit([{ name: fact, value: 1, unit: 'Count' }], dimensions)
}
