import { describe, expect, it } from '@jest/globals'
import {
  BreakerOpenings,
  channelTrafficSchema,
  RecentCalls,
  RecentTraffic,
  watchChannels,
} from '#local/channel-traffic.ts'
import { readCurrentFigures } from '#platform/telemetry/current-figures.ts'
import { CHAT, sendJson, startRelayRig } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'

describe('watchChannels', () => {
  const rig = useOpened(() => startRelayRig({ channel: { breaker: { failures: 1, pause_seconds: 60 } } }))

  it('channel-traffic: tells calls, errors, times and breaker of each called channel', async () => {
    const describeChannels = await watchChannels([])
    expect(describeChannels()).toEqual({ channels: {}, credentials: {} })
    const body = { model: CHAT, messages: [{ role: 'user', content: 'hi' }] }
    await rig.send(body)
    expect(describeChannels().channels['channel-0']).toMatchObject({ calls: 1, errors: {}, breaker: 'closed' })
    rig.upstreams[0]?.answerWith((response) => sendJson(response, {}, 500))
    await rig.send(body)
    const traffic = describeChannels()
    expect(traffic.channels['channel-0']).toEqual({
      calls: 2,
      errors: { http_5xx: 1 },
      p50Milliseconds: expect.any(Number),
      p95Milliseconds: expect.any(Number),
      breaker: 'open',
    })
    const figures = await readCurrentFigures(['channel-0'], Date.now())
    expect(figures?.breakerOpenings).toEqual(new Map([['channel-0', 1]]))
    expect(channelTrafficSchema.parse(JSON.parse(JSON.stringify(traffic)))).toEqual(traffic)
  })
})

const NOW = 1_700_000_000_000

describe('RecentCalls', () => {
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
    recent.add({ errorClass: 'broken_reply' }, NOW)
    expect(recent.summary(NOW + 1_000)).toMatchObject({ calls: 2, errors: { timeout: 2, broken_reply: 1 } })
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

describe('BreakerOpenings', () => {
  it('counts by channel those of the last hour', () => {
    const openings = new BreakerOpenings()
    openings.add('a', NOW)
    openings.add('a', NOW + 1_800_000)
    openings.add('b', NOW)
    expect(openings.ofLastHour(NOW + 1_800_000)).toEqual(
      new Map([
        ['a', 2],
        ['b', 1],
      ]),
    )
    expect(openings.ofLastHour(NOW + 3_600_000).get('a')).toBe(1)
  })
})

describe('RecentTraffic', () => {
  const NOW = 1_795_000_020_000

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
