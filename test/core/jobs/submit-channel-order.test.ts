import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { submitChannelOrder } from '#core/jobs/submit-channel-order.ts'

function channel(id: string, priority: number, weight: number): VideoChannel {
  return {
    id,
    provider: 'p1',
    base_url: 'https://upstream.example.test',
    api_key: '',
    async_header: 'X-Async',
    models: {},
    priority,
    weight,
    max_open_jobs: 100,
    deadline_minutes: 60,
    poll: {},
    reference_checks: true,
  }
}

/** A small generator with a fixed seed (mulberry32), so that the statistics below never change. */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const DRAWS = 20_000

function shareOfFirst(channels: readonly VideoChannel[], id: string): number {
  const random = seededRandom(7)
  const firsts = Array.from({ length: DRAWS }, () => submitChannelOrder(channels, random)[0]?.id)
  return firsts.filter((first) => first === id).length / DRAWS
}

describe('submitChannelOrder', () => {
  it('tries lower priority numbers first, whatever the weights', () => {
    const channels = [channel('c', 2, 1000), channel('a', 0, 0.001), channel('b', 1, 1000)]
    const random = seededRandom(1)
    for (let draw = 0; draw < 100; draw += 1) {
      expect(submitChannelOrder(channels, random).map(({ id }) => id)).toStrictEqual(['a', 'b', 'c'])
    }
  })

  it.each([
    ['a', 1 / 6],
    ['b', 2 / 6],
    ['c', 3 / 6],
  ])('lets %s come first in proportion to its weight', (id, share) => {
    const channels = [channel('a', 0, 1), channel('b', 0, 2), channel('c', 0, 3), channel('d', 1, 100)]
    expect(Math.abs(shareOfFirst(channels, id) - share)).toBeLessThan(0.015)
  })

  it('shares evenly among equals', () => {
    const channels = [channel('a', 5, 0.5), channel('b', 5, 0.5)]
    expect(Math.abs(shareOfFirst(channels, 'a') - 0.5)).toBeLessThan(0.015)
  })

  it('gives every channel exactly once and leaves its input alone', () => {
    const rows = fc.array(fc.tuple(fc.nat({ max: 2 }), fc.double({ min: 0.001, max: 1000, noNaN: true })), {
      maxLength: 8,
    })
    fc.assert(
      fc.property(rows, fc.nat(), (pairs, seed) => {
        const channels = pairs.map(([priority, weight], index) => channel(`c${index}`, priority, weight))
        const before = [...channels]
        const ordered = submitChannelOrder(channels, seededRandom(seed))
        expect(channels).toStrictEqual(before)
        expect(new Set(ordered)).toStrictEqual(new Set(channels))
        expect(ordered).toHaveLength(channels.length)
      }),
    )
  })

  it.each([0, 1 - 2 ** -32])('orders by weight of chance even at the end %d of the generator', (value) => {
    const channels = [channel('a', 0, 1), channel('b', 0, 1)]
    expect(submitChannelOrder(channels, () => value)).toHaveLength(2)
  })
})
