import { type CountedFact, metricOfFact } from '#core/measures.ts'
import { type About, emit } from './measure.ts'

/** Counts one fact by its metric, and names it in the log line. */
export function count(fact: CountedFact, about: About = {}): void {
  emit([{ name: metricOfFact(fact), value: 1, unit: 'Count' }], { ...about, fact })
}
