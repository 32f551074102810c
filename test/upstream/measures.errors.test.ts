import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  countUpstreamError,
  errorClassOfStatus,
  observeUpstreams,
  tellObserver,
  type UpstreamFact,
} from '#upstream/measures.ts'
import { captureMetrics } from '../engines/emitted-metrics.ts'

describe('observeUpstreams', () => {
  it('upstream-observer: tells facts to the one who observes, and says whether there is one', () => {
    const fact: UpstreamFact = { channelId: 'main', errorClass: 'odd_body' }
    expect(tellObserver(fact)).toBe(false)
    const facts: UpstreamFact[] = []
    observeUpstreams((told) => facts.push(told))
    expect(tellObserver(fact)).toBe(true)
    expect(facts).toEqual([fact])
  })
})

describe('upstream errors', () => {
  let metrics: ReturnType<typeof captureMetrics>
  beforeAll(() => {
    metrics = captureMetrics()
  })
  afterAll(() => {
    process.env.POWERTOOLS_METRICS_DISABLED = 'true'
  })

  describe('errorClassOfStatus', () => {
    it.each([
      [200, undefined],
      [399, undefined],
      [400, 'http_4xx'],
      [429, 'rate_limited'],
      [499, 'http_4xx'],
      [500, 'http_5xx'],
    ])('%i: %s', (status, expected) => {
      expect(errorClassOfStatus(status)).toBe(expected)
    })
  })

  describe('countUpstreamError', () => {
    it('counts the class of the error for its channel', () => {
      countUpstreamError('odd_body', 'main')
      expect(metrics.emitted().at(-1)).toMatchObject({
        name: 'upstream_error',
        value: 4,
        dimensions: { channel: 'main' },
      })
    })
  })
})
