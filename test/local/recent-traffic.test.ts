import { describe, expect, it } from 'vitest'
import { RecentTraffic } from '#local/channel-traffic.ts'

const NOW = 1_795_000_020_000

describe('RecentTraffic', () => {
  it('counts relayed requests and created jobs, and what failed, but no refusal', () => {
    const traffic = new RecentTraffic()
    traffic.add({ relay_succeeded: 1, first_byte_milliseconds: 100, input_tokens: 7 }, NOW)
    traffic.add({ relay_failed: 1 }, NOW)
    traffic.add({ relay_rejected: 1 }, NOW)
    traffic.add({ jobs_created: 1 }, NOW)
    traffic.add({ jobs_failed: 1 }, NOW)
    traffic.add({ upstream_milliseconds: 5 }, NOW)
    const { p50Milliseconds, ...counts } = traffic.traffic(NOW)
    expect(counts).toMatchObject({ minuteFrom: NOW - 60_000, requests: 4, errors: 2 })
    expect(Math.abs(Number(p50Milliseconds) - 100)).toBeLessThan(10)
  })

  it('shows every one of the last thirty minutes, and forgets what is older than a minute or half an hour', () => {
    const traffic = new RecentTraffic()
    for (const before of [31 * 60_000, 29 * 60_000, 61_000, 59_000, 0]) {
      traffic.add({ relay_succeeded: 1 }, NOW - before)
    }
    const { requests, minutes, p50Milliseconds } = traffic.traffic(NOW)
    expect([requests, minutes.length, p50Milliseconds]).toEqual([2, 30, null])
    expect(minutes.at(-1)?.at).toBe(NOW - (NOW % 60_000))
    expect(minutes.reduce((sum, minute) => sum + minute.requests, 0)).toBe(4)
  })
})
