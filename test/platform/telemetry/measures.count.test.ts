import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { count } from '#platform/telemetry/measures.ts'
import { captureMetrics } from '../../engines/emitted-metrics.ts'

let metrics: ReturnType<typeof captureMetrics>
beforeAll(() => {
  metrics = captureMetrics()
})
afterAll(() => {
  process.env.POWERTOOLS_METRICS_DISABLED = 'true'
})

describe('count', () => {
  it('counts one fact for the service, with its reason in the line', () => {
    count('callback_failed', { reason: 'status' })
    expect(metrics.emitted()).toMatchObject([{ name: 'callback_failed', value: 1, unit: 'Count' }])
    expect(metrics.lastLine()).toMatchObject({ fact: 'callback_failed', reason: 'status' })
  })

  it('counts a fault of a channel by the metric that its channel has for all of them, and names it in the line', () => {
    count('result_refused', { channel: 'main' })
    expect(metrics.emitted().at(-1)).toMatchObject({ name: 'channel_fault', value: 1, dimensions: { channel: 'main' } })
    expect(metrics.lastLine()).toMatchObject({ fact: 'result_refused' })
  })
})
