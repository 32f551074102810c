import type { CountedFact } from '#core/telemetry/counted-facts.ts'
import { type Dimensions, emit } from './measure.ts'

/** Counts one fact, for the whole service and for its dimensions. */
export function count(fact: CountedFact, dimensions: Dimensions = {}): void {
  emit([{ name: fact, value: 1, unit: 'Count' }], dimensions)
}
