import { describe, expect, it } from 'vitest'
import { NO_SWITCHES } from '#core/catalogue/switches.ts'
import type { AllFigures } from '#core/measures.ts'
import { channelHealth, trafficOf } from '#lambdas/admin-api/read/channel-state.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'

const state = (changes: Partial<AllFigures> = {}) => ({
  config: testCatalogue().config,
  switches: NO_SWITCHES,
  openJobs: new Map([['video', 3]]),
  figures: { minuteFrom: 60_000, byChannel: new Map(), breakers: undefined, ...changes },
})

describe('trafficOf', () => {
  const traffic = {
    ...{ minuteFrom: 60_000, requests: 10, errors: 2, p50Milliseconds: 100, p95Milliseconds: 950 },
    minutes: [{ at: 60_000, requests: 10, errors: 2 }],
  }

  it('is what clients did, with the minute that it describes', () => {
    expect(trafficOf(state({ traffic }))).toEqual({
      ...{ from: 60, requests_per_minute: 10, errors_per_minute: 2, first_byte_ms: { p50: 100, p95: 950 } },
      minutes: [{ at: 60, requests: 10, errors: 2 }],
    })
  })

  it('has no latency without a relayed request, and is nothing where it is not known', () => {
    const idle = { ...traffic, p50Milliseconds: null, p95Milliseconds: null }
    expect(trafficOf(state({ traffic: idle }))?.first_byte_ms).toBeNull()
    expect([trafficOf(state()), trafficOf({ figures: undefined })]).toEqual([null, null])
  })
})

describe('channelHealth', () => {
  it('shows a breaker where one process has them all, and none of a video channel', () => {
    const breakers = new Map([['a', 'open']] as const)
    const health = (id: string, provider: 'openai' | 'p1') =>
      channelHealth({ id, provider }, state({ breakers })).breaker
    expect([health('a', 'openai'), health('b', 'openai'), health('a', 'p1')]).toEqual(['open', 'closed', null])
    expect(channelHealth({ id: 'a', provider: 'openai' }, state()).breaker).toBeNull()
  })

  it('shows how often breakers opened where every instance has its own', () => {
    const breakerOpenings = new Map([['a', 2]])
    const openings = (id: string, provider: 'openai' | 'p1') =>
      channelHealth({ id, provider }, state({ breakerOpenings })).breaker_openings
    expect([openings('a', 'openai'), openings('b', 'openai'), openings('a', 'p1')]).toEqual([2, null, null])
    expect(channelHealth({ id: 'a', provider: 'openai' }, state()).breaker_openings).toBeNull()
  })

  it('shows open jobs, and whether an operator has disabled it', () => {
    const disabled = { channels: { video: { enabled: { value: false, by: 'ada', at: 5 } } }, models: {} } as const
    expect(channelHealth({ id: 'video', provider: 'p1' }, { ...state(), switches: disabled })).toMatchObject({
      ...{ disabled: true, open_jobs: 3, figures: { requests: 0, errors: 0 } },
    })
  })
})
