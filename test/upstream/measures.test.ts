import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { measureUpstreamCall, observeUpstreams, type UpstreamFact } from '#upstream/measures.ts'
import { captureMetrics } from '../engines/emitted-metrics.ts'

let metrics: ReturnType<typeof captureMetrics>
beforeAll(() => {
  metrics = captureMetrics()
})
afterAll(() => {
  process.env.POWERTOOLS_METRICS_DISABLED = 'true'
})

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
const byChannel = () => metrics.emitted().filter(({ dimensions }) => dimensions.channel === 'main')

describe('measureUpstreamCall', () => {
  it('measures a success of a channel in a later turn, so that no reply waits for the line', async () => {
    measureUpstreamCall({ channelId: 'main', milliseconds: 41.5, errorClass: undefined })
    expect(metrics.lines()).toBe(0)
    await nextTurn()
    expect(metrics.lines()).toBe(1)
    expect(byChannel()).toMatchObject([{ name: 'upstream_milliseconds', value: 41.5, unit: 'Milliseconds' }])
  })

  it('measures a failure and counts its class in one line', () => {
    const before = metrics.lines()
    measureUpstreamCall({ channelId: 'main', milliseconds: 9, errorClass: 'timeout' })
    expect(metrics.lines()).toBe(before + 1)
    expect(byChannel().slice(-2)).toMatchObject([
      { name: 'upstream_milliseconds', value: 9 },
      { name: 'upstream_error', value: 2 },
    ])
    expect(metrics.lastLine()).toMatchObject({ reason: 'timeout' })
  })

  it('writes no line for a success that somebody observes', async () => {
    const facts: UpstreamFact[] = []
    observeUpstreams((fact) => facts.push(fact))
    const before = metrics.lines()
    measureUpstreamCall({ channelId: 'main', milliseconds: 3, errorClass: undefined })
    await nextTurn()
    expect(metrics.lines()).toBe(before)
    measureUpstreamCall({ channelId: 'main', milliseconds: 4, errorClass: 'connect_error' })
    // The one of the channel, and the one of all upstreams that the alarm watches.
    expect(metrics.lines()).toBe(before + 2)
    expect(facts).toEqual([
      { channelId: 'main', milliseconds: 3, errorClass: undefined },
      { channelId: 'main', milliseconds: 4, errorClass: 'connect_error' },
    ])
  })
})
