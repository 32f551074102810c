import { describe, expect, it } from 'vitest'
import { RecentCalls } from '#local/channel-traffic.ts'

const NOW = 1_700_000_000_000

describe('recent-calls', () => {
  it('is empty before the first call', () => {
    expect(new RecentCalls().summary(NOW)).toEqual({
      calls: 0,
      errors: {},
      p50Milliseconds: null,
      p95Milliseconds: null,
    })
  })

  it('tells the median and the 95th percentile to a tenth', () => {
    const recent = new RecentCalls()
    for (let milliseconds = 1; milliseconds <= 1_000; milliseconds += 1) {
      recent.add({ milliseconds }, NOW)
    }
    const { calls, p50Milliseconds, p95Milliseconds } = recent.summary(NOW)
    expect(calls).toBe(1_000)
    expect(Math.abs(Number(p50Milliseconds) - 500)).toBeLessThan(50)
    expect(Math.abs(Number(p95Milliseconds) - 950)).toBeLessThan(95)
  })

  it('counts errors by class, those after the head of a reply without another call', () => {
    const recent = new RecentCalls()
    recent.add({ milliseconds: 5, errorClass: 'timeout' }, NOW)
    recent.add({ milliseconds: 5, errorClass: 'timeout' }, NOW + 1_000)
    recent.add({ errorClass: 'broken_answer' }, NOW)
    expect(recent.summary(NOW + 1_000)).toMatchObject({ calls: 2, errors: { timeout: 2, broken_answer: 1 } })
  })

  it('forgets a call after a minute, also where nobody asks meanwhile', () => {
    const recent = new RecentCalls()
    recent.add({ milliseconds: 5, errorClass: 'timeout' }, NOW)
    expect(recent.summary(NOW + 59_000).calls).toBe(1)
    expect(recent.summary(NOW + 60_000)).toMatchObject({ calls: 0, errors: {} })
    recent.add({ milliseconds: 7 }, NOW + 60_000)
    expect(recent.summary(NOW + 60_000)).toMatchObject({ calls: 1, errors: {} })
  })

  it.each([0, 0.01, 1e9])('takes a call of %d ms', (milliseconds) => {
    const recent = new RecentCalls()
    recent.add({ milliseconds }, NOW)
    expect(recent.summary(NOW)).toMatchObject({ calls: 1, p50Milliseconds: expect.any(Number) })
  })
})
