import { Metrics } from '@aws-lambda-powertools/metrics'
import { vi } from 'vitest'
import { COUNTED_FACTS } from '#core/telemetry/counted-facts.ts'
import { setTestLogging } from '../logs/test-logging.ts'

/** Lets everything be logged, off the terminal, and lists the facts that were counted since. */
export function captureTelemetry(): { readonly counted: () => string[]; readonly reset: () => void } {
  setTestLogging()
  const addMetric = vi.spyOn(Metrics.prototype, 'addMetric')
  const facts: readonly string[] = COUNTED_FACTS
  return {
    counted: () => addMetric.mock.calls.map(([name]) => name).filter((name) => facts.includes(name)),
    reset: () => void addMetric.mockClear(),
  }
}
