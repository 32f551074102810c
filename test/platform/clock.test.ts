import { describe, expect, it } from '@jest/globals'
import { systemClock } from '#platform/clock.ts'

describe('clock: systemClock', () => {
  it('reads Unix milliseconds', () => {
    const before = Date.now()
    const now = systemClock.nowMilliseconds()
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Date.now())
  })

  it('pauses for as long as it is asked to', async () => {
    const startedAt = performance.now()
    await systemClock.pause(30)
    expect(performance.now() - startedAt).toBeGreaterThan(28)
  })
})
