import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { count } from '#adapters/telemetry/count.ts'
import { captureMetrics } from '../../engines/emitted-metrics.ts'

let metrics: ReturnType<typeof captureMetrics>
beforeAll(() => {
  metrics = captureMetrics()
})
afterAll(() => {
  process.env.POWERTOOLS_METRICS_DISABLED = 'true'
})

describe('count', () => {
  it('counts one fact, for the service and for its reason', () => {
    count('callback_failed', { reason: 'status' })
    expect(metrics.emitted().slice(-2)).toMatchObject([
      { name: 'callback_failed', value: 1, unit: 'Count' },
      { name: 'callback_failed', value: 1, dimensions: { reason: 'status' } },
    ])
  })
})
