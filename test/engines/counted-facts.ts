import { Metrics } from '@aws-lambda-powertools/metrics'
import { jest } from '@jest/globals'
import { logger } from '#adapters/telemetry/logger.ts'

/** Silences log lines and metrics, and lists the facts that were counted since. */
export function captureTelemetry(): { readonly counted: () => string[]; readonly reset: () => void } {
  logger.setLogLevel('SILENT')
  process.env.POWERTOOLS_METRICS_DISABLED = 'true'
  const addMetric = jest.spyOn(Metrics.prototype, 'addMetric')
  return { counted: () => addMetric.mock.calls.map(([name]) => String(name)), reset: () => addMetric.mockClear() }
}
