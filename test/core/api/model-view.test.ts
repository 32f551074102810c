import { describe, expect, it } from '@jest/globals'
import * as z from 'zod'
import { modelView } from '#core/api/model-view.ts'
import { endpointsOfKind, type ModelEndpoint } from '#core/api/paths.ts'
import { modelPriceResponse, modelResponse } from '#core/api/responses.ts'
import { createCatalogue } from '#core/catalogue/catalogue.ts'
import { gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { type Model, modelSchema } from '#core/catalogue/model.ts'
import { shippedCatalogue, shippedConfig } from '../shipped-catalogue.ts'

function modelOf(id: string): Model {
  const model = shippedConfig.models.find((candidate) => candidate.id === id)
  if (model === undefined) {
    throw new RangeError(`the shipped configuration has no model ${id}`)
  }
  return model
}

const viewOf = (id: string) => modelView(modelOf(id), shippedCatalogue)

/** The fields of every row of prices that the configuration may hold. */
function configuredPriceFields(): string[] {
  const fields: string[] = []
  const collect = (schema: { readonly properties?: object; readonly anyOf?: readonly object[] }): void => {
    fields.push(...Object.keys(schema.properties ?? {}))
    schema.anyOf?.forEach(collect)
  }
  const { oneOf = [], anyOf = [] } = z.toJSONSchema(modelSchema, { io: 'input' })
  for (const model of [...oneOf, ...anyOf]) {
    collect(Object(model).properties.prices.items)
  }
  // A price row may be written with older names, which clients do not see.
  return [...new Set(fields)].filter((name) => !name.endsWith('_per_million')).toSorted()
}

const pathsOf = (kind: ModelEndpoint['kind']) => endpointsOfKind(kind).map(({ path }) => path)

describe('modelView', () => {
  it.each(shippedConfig.models.map(({ id }) => id))('%s has documented fields only', (id) => {
    const documented = z.strictObject({
      ...modelResponse.shape,
      pricing: z.strictObject({
        ...modelResponse.shape.pricing.shape,
        prices: z.array(z.strictObject(modelPriceResponse.shape)),
      }),
    })
    expect(() => documented.parse(viewOf(id))).not.toThrow()
  })

  it('shows what a chat model takes, gives and costs', () => {
    expect(viewOf('chat-default')).toStrictEqual({
      id: 'chat-default',
      object: 'model',
      created: 1_767_225_600,
      owned_by: 'reelgate',
      kind: 'chat',
      context_window: 128_000,
      max_output_tokens: 16_384,
      input_modalities: ['text', 'image', 'file'],
      output_modalities: ['text'],
      vision: true,
      tools: true,
      endpoints: pathsOf('chat'),
      pricing: {
        unit: 'credit',
        billing: 'token',
        prices: [{ input: '0.15', output: '0.60' }],
      },
    })
  })

  it('shows the modalities of a chat model as configured', () => {
    const configured = { ...modelOf('chat-default'), input_modalities: ['text', 'image'], output_modalities: ['text'] }
    const model = modelSchema.parse(configured)
    expect(modelView(model, shippedCatalogue).input_modalities).toStrictEqual(['text', 'image'])
  })

  it.each([
    [{ input_modalities: ['text'] }, { vision: false }],
    [
      { tools: false, structured_output: true },
      { tools: false, structured_output: true },
    ],
  ])('says of a chat model that is configured with %j: %j', (configured, facts) => {
    const { tools: _, ...plain } = { tools: undefined, ...modelOf('chat-default') }
    const model = modelSchema.parse({ ...plain, ...configured })
    expect(modelView(model, shippedCatalogue)).toMatchObject(facts)
    expect('tools' in modelView(model, shippedCatalogue)).toBe('tools' in configured)
  })

  it.each([
    [
      'text-embedding-3-small',
      { context_window: 8192, output_modalities: ['embedding'], endpoints: pathsOf('embedding') },
    ],
    [
      'image-v3',
      {
        output_modalities: ['image'],
        endpoints: pathsOf('image'),
        sizes: ['1024x1024', '1792x1024', '1024x1792'],
        qualities: ['standard', 'hd'],
        styles: ['vivid', 'natural'],
        n: { min: 1, max: 1 },
      },
    ],
    [
      'famB-1.1-i2v',
      {
        input_modalities: ['text', 'image'],
        output_modalities: ['video'],
        endpoints: pathsOf('video'),
        durations: { min: 3, max: 15 },
        resolutions: ['480P', '720P', '1080P'],
        aspect_ratios: ['16:9', '9:16', '1:1', '4:3', '3:4', '4:5', '5:4', '9:21', '21:9'],
        references: { images: { min: 1, max: 1 }, videos: { min: 0, max: 0 }, audios: { min: 0, max: 0 } },
      },
    ],
    ['famA-2', { input_modalities: ['text', 'image', 'video', 'audio'] }],
    ['famB-1.1-t2v', { input_modalities: ['text'] }],
  ])('shows what %s takes', (id, fields) => {
    expect(viewOf(id)).toMatchObject(fields)
  })

  it('shows no qualities and styles of an image model that has none', () => {
    const shown = viewOf('image-v2')
    expect(shown).toMatchObject({ sizes: ['256x256', '512x512', '1024x1024'], n: { min: 1, max: 10 } })
    expect(shown).not.toHaveProperty('qualities')
    expect(shown).not.toHaveProperty('styles')
  })

  it('shows no reference audio and video where no channel takes them', () => {
    const channels = shippedConfig.channels.filter(({ id }) => id === 'p2-proxy')
    const catalogue = createCatalogue({ ...shippedConfig, channels })
    expect(modelView(modelOf('famA-2'), catalogue)).toMatchObject({
      input_modalities: ['text', 'image'],
      references: { images: { min: 0, max: 9 }, videos: { max: 0 }, audios: { max: 0 } },
    })
  })

  it('names no channel, no upstream and no id of an upstream', () => {
    const marked = gatewayConfigSchema.parse({
      ...shippedConfig,
      channels: shippedConfig.channels.map((channel) => ({ ...channel, id: `secret-${channel.id}` })),
    })
    const catalogue = createCatalogue(marked)
    const text = JSON.stringify(marked.models.map((model) => modelView(model, catalogue)))
    expect(text).not.toMatch(/secret|simulator|intl-|base_url|channel|upstream/)
  })

  it('shows every price that can be configured, and nothing else that a row may hold', () => {
    expect(Object.keys(modelPriceResponse.shape).toSorted()).toStrictEqual(configuredPriceFields())
    const row = Object.fromEntries(configuredPriceFields().map((name) => [name, '1']))
    const model = modelOf('image-v2')
    const priced = Object.assign(structuredClone(model), { prices: [{ ...row, cost: '0.5' }] })
    const [shown] = modelView(priced, shippedCatalogue).pricing.prices
    expect(Object.keys(shown ?? {}).toSorted()).toStrictEqual(configuredPriceFields())
  })
})
