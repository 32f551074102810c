import { createHash } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import { lotAtRandom, lotOfDigest, orderRelayChannels, sessionText } from '#core/relay/relay-channel-order.ts'
import { seededRandom } from '../../engines/seeded-random.ts'
import { relayChannel } from '../../relay/relay-channel.ts'

const SESSIONS = 10_000

function inSession(sessionId: string, tenantId = 'acme') {
  return ({ id }: RelayChannel) =>
    lotOfDigest(createHash('sha256').update(sessionText({ tenantId, sessionId }, id)).digest())
}

/** The channel that each of many sessions goes to first. */
function firstOfSessions(channels: readonly RelayChannel[], tenantId?: string): (string | undefined)[] {
  return Array.from(
    { length: SESSIONS },
    (_, index) => orderRelayChannels(channels, inSession(`session-${index}`, tenantId))[0]?.id,
  )
}

/** Five standard deviations of a count of independent draws: chance goes beyond once in 1.7 million. */
function boundOf(share: number, draws = SESSIONS): number {
  return 5 * Math.sqrt(draws * share * (1 - share))
}

function countOf(ids: readonly (string | undefined)[], id: string): number {
  return ids.filter((other) => other === id).length
}

const CHANNELS = [
  relayChannel('one', { weight: 1 }),
  relayChannel('two', { weight: 2 }),
  relayChannel('five', { weight: 5 }),
  relayChannel('later', { weight: 1000, priority: 1 }),
]
const SHARES = [
  ['one', 1 / 8],
  ['two', 2 / 8],
  ['five', 5 / 8],
] as const

describe('orderRelayChannels', () => {
  it.each([
    ['within a session', () => inSession('s')],
    ['without a session', () => () => lotAtRandom(seededRandom(1))],
  ])('begins with the lowest priority number, whatever the weights, %s', (_, lots) => {
    const channels = [
      relayChannel('third', { priority: 7, weight: 1000 }),
      relayChannel('first', { weight: 0.001 }),
      relayChannel('second', { priority: 1, weight: 1000 }),
    ]
    expect(orderRelayChannels(channels, lots()).map(({ id }) => id)).toStrictEqual(['first', 'second', 'third'])
  })

  it('gives every channel exactly once and leaves its input alone', () => {
    const rows = fc.array(fc.tuple(fc.nat({ max: 2 }), fc.double({ min: 0.001, max: 1000, noNaN: true })), {
      maxLength: 8,
    })
    fc.assert(
      fc.property(rows, fc.string(), (pairs, session) => {
        const channels = pairs.map(([priority, weight], index) => relayChannel(`c${index}`, { priority, weight }))
        const before = [...channels]
        const ordered = orderRelayChannels(channels, inSession(session))
        expect(channels).toStrictEqual(before)
        expect(ordered.toSorted((a, b) => a.id.localeCompare(b.id))).toStrictEqual(before)
      }),
      { numRuns: 50 },
    )
  })
})

describe('the channels of ten thousand sessions', () => {
  const firsts = firstOfSessions(CHANNELS)

  it.each(SHARES)('are %s in proportion to its weight', (id, share) => {
    expect(Math.abs(countOf(firsts, id) - SESSIONS * share)).toBeLessThan(boundOf(share))
  })

  it.each(['one', 'two', 'five'])('move only from %s when it is out, and from there by weight', (lost) => {
    const rest = CHANNELS.filter(({ id }) => id !== lost)
    const moved = firstOfSessions(rest)
    const strays = firsts.flatMap((id, index) => (id === lost || id === moved[index] ? [] : [index]))
    expect(strays).toStrictEqual([])

    const heirs = moved.filter((_, index) => firsts[index] === lost)
    const weights = rest.filter(({ priority }) => priority === 0)
    const total = weights.reduce((sum, { weight }) => sum + weight, 0)
    for (const { id, weight } of weights) {
      const share = weight / total
      expect(Math.abs(countOf(heirs, id) - heirs.length * share)).toBeLessThan(boundOf(share, heirs.length))
    }
  })

  it('go where the second place said when a channel is out', () => {
    const [lost, second] = orderRelayChannels(CHANNELS, inSession('s'))
    const rest = CHANNELS.filter((channel) => channel !== lost)
    expect(orderRelayChannels(rest, inSession('s'))[0]).toBe(second)
  })

  it('do not depend on the order in the configuration', () => {
    expect(firstOfSessions(CHANNELS.toReversed())).toStrictEqual(firsts)
  })

  it('are drawn for each tenant by itself', () => {
    const others = firstOfSessions(CHANNELS, 'other')
    const same = firsts.filter((id, index) => id === others[index]).length
    const chance = SHARES.reduce((sum, [, share]) => sum + share ** 2, 0)
    expect(Math.abs(same - SESSIONS * chance)).toBeLessThan(boundOf(chance))
  })

  it('are the same in every process and version', () => {
    expect(firsts.slice(0, 12)).toStrictEqual(EXPECTED_FIRSTS)
    expect(inSession('s')(relayChannel('one'))).toBe(EXPECTED_LOT)
  })
})

/** Worked out apart from this code, by SHA-256 and logarithms of another language. A change moves every session. */
const EXPECTED_FIRSTS = ['one', 'two', 'five', 'five', 'one', 'two', 'one', 'five', 'five', 'five', 'two', 'five']
const EXPECTED_LOT = 0.050037558672189064

describe('lotOfDigest and lotAtRandom: a lot', () => {
  it.each([
    ['lowest', new Uint8Array(32), 2 ** -49],
    ['highest', new Uint8Array(32).fill(255), 1 - 2 ** -49],
  ])('of the %s digest is within its range', (_, digest, lot) => {
    expect(lotOfDigest(digest)).toBe(lot)
    expect(lot > 0 && lot < 1).toBe(true)
  })

  it('reads a digest that lies within a larger buffer', () => {
    const pool = new Uint8Array([9, 9, 128, 0, 0, 0, 0, 0, 9])
    expect(lotOfDigest(pool.subarray(2, 8))).toBe(0.5 + 2 ** -49)
  })

  it.each([0, 1 - 2 ** -53])('of chance is usable at the end %d of the generator', (value) => {
    const lot = lotAtRandom(() => value)
    expect(lot > 0 && lot <= 1).toBe(true)
  })
})

describe('requests without a session', () => {
  const random = seededRandom(7)
  const firsts = Array.from({ length: SESSIONS }, () => orderRelayChannels(CHANNELS, () => lotAtRandom(random))[0]?.id)

  it.each(SHARES)('go to %s in proportion to its weight', (id, share) => {
    expect(Math.abs(countOf(firsts, id) - SESSIONS * share)).toBeLessThan(boundOf(share))
  })
})
