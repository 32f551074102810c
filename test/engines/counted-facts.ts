import { Metrics } from '@aws-lambda-powertools/metrics'
import { vi } from 'vitest'
import { setTestLogging } from '../logs/test-logging.ts'

/** Lets everything be logged, off the terminal, and lists the facts that were counted since. */
export function captureTelemetry(): { readonly counted: () => string[]; readonly reset: () => void } {
  setTestLogging()
  const addMetadata = vi.spyOn(Metrics.prototype, 'addMetadata')
  return {
    counted: () => addMetadata.mock.calls.filter(([name]) => name === 'fact').map(([, fact]) => fact),
    reset: () => void addMetadata.mockClear(),
  }
}
