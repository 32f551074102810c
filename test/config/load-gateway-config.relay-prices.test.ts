import { describe, expect, it } from 'vitest'
import { imageModelIssues } from '#core/catalogue/gateway-config.ts'
import { shippedConfig } from '../core/shipped-catalogue.ts'
import { changed, load, problemsOf, sample } from './edited-config.ts'

const withoutLines = (text: string) => problemsOf(text).map((line) => line.replace(/^\d+ /, ''))
const { config } = load(sample)
const indexOf = (id: string) => config.models.findIndex((model) => model.id === id)

describe('prices of images', () => {
  it('that are shipped have no gap', () => {
    const images = shippedConfig.models.filter((model) => model.kind === 'image')
    expect(images).not.toHaveLength(0)
    expect(images.flatMap(imageModelIssues)).toStrictEqual([])
  })

  it('name every cell that has none', () => {
    const text = changed('      - { quality: hd, price: "0.12" }\n', '')
    const at = `models[${indexOf('image-v3')}].prices`
    expect(withoutLines(text)).toStrictEqual([
      `${at}: no price for size 1792x1024, quality hd`,
      `${at}: no price for size 1024x1792, quality hd`,
    ])
  })

  it('of a model without qualities need no quality', () => {
    const text = changed('      - { size: 512x512, price: "0.018" }\n', '')
    expect(withoutLines(text)).toStrictEqual([`models[${indexOf('image-v2')}].prices: no price for size 512x512`])
  })

  it('for a size or a quality that the model has not are told', () => {
    const text = changed(
      '- { size: 1024x1024, quality: hd, price: "0.08" }',
      '- { size: 1024x1025, quality: high, price: "0.08" }',
    )
    const at = `models[${indexOf('image-v3')}].prices[1]`
    expect(withoutLines(text)).toStrictEqual([
      `${at}.size: not allowed; allowed: any, 1024x1024, 1792x1024, 1024x1792`,
      `${at}.quality: not allowed; allowed: any, standard, hd`,
    ])
  })
})

describe('prices of tokens', () => {
  it.each([
    ['text-embedding-3-small', 'prices: [{ input_per_million: "0.02" }]', 'prices: [{ price: "0.02" }]'],
    ['chat-default', 'billing: token\n    context_tokens', 'billing: per_request\n    context_tokens'],
  ])('of %s say the same as its billing', (id, passage, replacement) => {
    const wanted =
      id === 'chat-default' ? 'billing per_request needs one price' : 'billing token needs prices per million'
    expect(withoutLines(changed(passage, replacement))).toStrictEqual([`models[${indexOf(id)}].prices[0]: ${wanted}`])
  })
})
