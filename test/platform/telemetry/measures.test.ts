import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { creditsForGraphs, type Measured, measure, observeMeasures } from '#platform/telemetry/measures.ts'
import { captureMetrics } from '../../engines/emitted-metrics.ts'

describe('measure', () => {
  let metrics: ReturnType<typeof captureMetrics>
  let before: number
  let emittedBefore: number
  beforeAll(() => {
    metrics = captureMetrics()
  })
  afterAll(() => {
    process.env.POWERTOOLS_METRICS_DISABLED = 'true'
  })
  beforeEach(() => {
    before = metrics.lines()
    emittedBefore = metrics.emitted().length
  })

  describe('measure', () => {
    it('counts a number once, for the whole service, and keeps what it is about in the line', () => {
      measure({ output_tokens: 7 }, { channel: 'main', model: 'chat' })
      expect(metrics.lines()).toBe(before + 1)
      expect(metrics.emitted().slice(emittedBefore)).toEqual([
        expect.objectContaining({ name: 'output_tokens', value: 7, dimensions: { service: expect.any(String) } }),
      ])
      expect(metrics.lastLine()).toMatchObject({ channel: 'main', model: 'chat' })
    })

    it('counts a call of an upstream for its channel alone', () => {
      measure({ upstream_milliseconds: 41 }, { channel: 'main' })
      expect(metrics.emitted().slice(emittedBefore)).toMatchObject([
        { name: 'upstream_milliseconds', dimensions: { service: expect.any(String), channel: 'main' } },
      ])
    })

    it.each([undefined, Number.NaN, Number.POSITIVE_INFINITY])('writes nothing for %s', (value) => {
      measure({ upstream_connect_error: value })
      expect(metrics.lines()).toBe(before)
    })
  })

  describe('creditsForGraphs', () => {
    it('is microcredits as credits', () => {
      expect(creditsForGraphs(1_500_000n)).toBe(1.5)
    })
  })
})

describe('observeMeasures', () => {
  it('observeMeasures hears of everything that is measured from then on, also where no metrics are emitted', () => {
    const heard: Measured[] = []
    measure({ jobs_created: 1 })
    observeMeasures({ measured: (values) => heard.push(values), counted: () => undefined })
    measure({ relay_failed: 1, first_byte_milliseconds: undefined }, { model: 'm' })
    expect(heard).toEqual([{ relay_failed: 1, first_byte_milliseconds: undefined }])
  })
})
