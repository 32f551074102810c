import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { creditsForGraphs, measure } from '#adapters/telemetry/measure.ts'
import { captureMetrics } from '../../engines/emitted-metrics.ts'

let metrics: ReturnType<typeof captureMetrics>
let before: number
beforeAll(() => {
  metrics = captureMetrics()
})
afterAll(() => {
  process.env.POWERTOOLS_METRICS_DISABLED = 'true'
})
beforeEach(() => {
  before = metrics.lines()
})

const emitted = () => metrics.emitted().slice(-2)

describe('measure', () => {
  it('counts a number for the whole service and for what it is about, in one line', () => {
    measure({ upstream_timeout: 1 }, { channel: 'main' })
    expect(metrics.lines()).toBe(before + 1)
    expect(emitted()).toMatchObject([
      { name: 'upstream_timeout', value: 1, dimensions: { service: expect.any(String) } },
      { name: 'upstream_timeout', value: 1, dimensions: { channel: 'main' } },
    ])
    expect(emitted()[0]?.dimensions).not.toHaveProperty('channel')
  })

  it.each([undefined, Number.NaN, Number.POSITIVE_INFINITY])('writes nothing for %s', (value) => {
    measure({ upstream_timeout: value })
    expect(metrics.lines()).toBe(before)
  })
})

describe('creditsForGraphs', () => {
  it('is microcredits as credits', () => {
    expect(creditsForGraphs(1_500_000n)).toBe(1.5)
  })
})
