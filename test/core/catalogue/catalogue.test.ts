import { describe, expect, it } from 'vitest'
import { createCatalogue, needsDirectRoute, upstreamModelId } from '#core/catalogue/catalogue.ts'
import { NO_SWITCHES, type Switches } from '#core/catalogue/switches.ts'
import { shippedCatalogue, shippedConfig } from '../shipped-catalogue.ts'

describe('catalogue: createCatalogue', () => {
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

describe('catalogue: createCatalogue under switches', () => {
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

describe('catalogue: upstreamModelId', () => {
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

describe('catalogue: needsDirectRoute', () => {
  it.each([
    [[], [], false],
    [['a'], [], true],
    [[], ['v'], true],
  ])('of audio %j and video %j is %j', (audio_urls, video_urls, expected) => {
    expect(needsDirectRoute({ audio_urls, video_urls })).toBe(expected)
  })
})
