import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  createCatalogue,
  credentialName,
  needsDirectRoute,
  submitChannelOrder,
  upstreamModelId,
} from '#core/catalogue/catalogue.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { NO_SWITCHES, type Switches } from '#core/catalogue/switches.ts'
import { shippedCatalogue, shippedConfig } from '../shipped-catalogue.ts'

describe('createCatalogue', () => {
  it('returns channels by priority, lowest number first', () => {
    const channels = shippedConfig.channels.toReversed()
    const found = createCatalogue({ ...shippedConfig, channels }).videoChannels('famA-2', { directOnly: false })
    const priorities = found.map(({ priority }) => priority)
    expect(priorities).toStrictEqual(priorities.toSorted((left, right) => left - right))
    expect(new Set(priorities).size).toBeGreaterThan(1)
  })

  it.each(['nothing', 'chat-default', 'toString', '__proto__', ''])(
    'finds no video model and no channel named %j',
    (id) => {
      expect(shippedCatalogue.findVideoModel(id)).toBeUndefined()
      expect(shippedCatalogue.findVideoChannel(id)).toBeUndefined()
      expect(shippedCatalogue.videoChannels(id, { directOnly: false })).toStrictEqual([])
    },
  )
})

describe('createCatalogue under switches', () => {
  const set = <Value>(value: Value) => ({ value, by: 'operator', at: 1 })
  const catalogueOf = (switches: Partial<Switches>) => createCatalogue(shippedConfig, { ...NO_SWITCHES, ...switches })
  const idsOf = (channels: readonly { readonly id: string }[]) => channels.map(({ id }) => id)

  it('offers no new work to a disabled video channel, which stays configured', () => {
    const [first, ...others] = idsOf(shippedCatalogue.videoChannels('famA-2', { directOnly: false }))
    const id = first ?? ''
    const switched = catalogueOf({ channels: { [id]: { enabled: set(false) } } })
    expect(idsOf(switched.videoChannels('famA-2', { directOnly: false }))).toStrictEqual(others)
    expect(idsOf(switched.configuredVideoChannels('famA-2', { directOnly: false }))).toStrictEqual([id, ...others])
    expect(switched.findVideoChannel(id)).toBe(shippedCatalogue.findVideoChannel(id))
    expect(switched.findVideoModel('famA-2')).toBeDefined()
    expect(switched.config).toBe(shippedConfig)
  })

  it('offers no new request to a disabled relay channel, which stays configured', () => {
    const all = idsOf(shippedCatalogue.relayChannels('chat-default'))
    const switched = catalogueOf({
      channels: Object.fromEntries(all.map((id) => [id, { enabled: set(false as const) }])),
    })
    expect(switched.relayChannels('chat-default')).toStrictEqual([])
    expect(idsOf(switched.configuredRelayChannels('chat-default'))).toStrictEqual(all)
    expect(switched.findRelayModel('chat-default', { kind: 'chat', allowed: null })).toBeDefined()
  })

  it('orders video channels by the priority that was set', () => {
    const [first, ...others] = idsOf(shippedCatalogue.videoChannels('famA-2', { directOnly: false }))
    const switched = catalogueOf({ channels: { [first ?? '']: { priority: set(1_000) } } })
    expect(idsOf(switched.videoChannels('famA-2', { directOnly: false }))).toStrictEqual([...others, first])
  })

  it('hides a disabled model from clients, and not from its jobs', () => {
    const switched = catalogueOf({
      models: { 'famA-2': { enabled: set(false) }, 'chat-default': { enabled: set(false) } },
    })
    expect(switched.findVideoModel('famA-2')).toBeUndefined()
    expect(switched.findConfiguredVideoModel('famA-2')).toMatchObject({ id: 'famA-2' })
    expect(switched.findRelayModel('chat-default', { kind: 'chat', allowed: null })).toBeUndefined()
    const listed = idsOf(switched.listModels(null))
    expect(idsOf(shippedCatalogue.listModels(null)).filter((id) => !listed.includes(id))).toStrictEqual(
      ['famA-2', 'chat-default'].toSorted(
        (left, right) => idsOf(shippedConfig.models).indexOf(left) - idsOf(shippedConfig.models).indexOf(right),
      ),
    )
  })

  it('shows a model that the configuration disables and an operator enabled', () => {
    const models = shippedConfig.models.map((model) => ({ ...model, enabled: false }))
    const config = { ...shippedConfig, models }
    const switched = createCatalogue(config, { ...NO_SWITCHES, models: { 'famA-2': { enabled: set(true) } } })
    expect(switched.findVideoModel('famA-2')).toMatchObject({ id: 'famA-2' })
    expect(idsOf(switched.listModels(null))).toStrictEqual(['famA-2'])
  })
})

describe('upstreamModelId', () => {
  const [channel] = shippedCatalogue.videoChannels('famA-1-lite', { directOnly: false })

  it('is the id for text or for image input where the upstream has one of each', () => {
    expect(channel && upstreamModelId(channel, { model: 'famA-1-lite', image_urls: [] })).toBe('famA-1-lite-t2v')
    expect(channel && upstreamModelId(channel, { model: 'famA-1-lite', image_urls: ['x'] })).toBe('famA-1-lite-i2v')
    expect(channel && upstreamModelId(channel, { model: 'famA-2', image_urls: ['x'] })).toBe('famA-2-0-260128')
  })

  it('throws for a model that the channel does not serve', () => {
    expect(() => channel && upstreamModelId(channel, { model: 'famB-1.0-t2v', image_urls: [] })).toThrow(RangeError)
  })
})

describe('needsDirectRoute', () => {
  it.each([
    [[], [], false],
    [['a'], [], true],
    [[], ['v'], true],
  ])('of audio %j and video %j is %j', (audio_urls, video_urls, expected) => {
    expect(needsDirectRoute({ audio_urls, video_urls })).toBe(expected)
  })
})

describe('credentialName', () => {
  const [channel] = shippedConfig.channels
  it.each([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the operator writes exactly this.
    ['${P1_API_KEY}', 'P1_API_KEY'],
    ['', undefined],
  ])('of api_key %j is %j', (api_key, name) => {
    expect(channel && credentialName({ ...channel, api_key })).toBe(name)
  })
})

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
