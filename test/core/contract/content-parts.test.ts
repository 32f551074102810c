import { describe, expect, it } from 'vitest'
import { contentSchema, imageUrlOf, PARTS_MAX } from '#core/contract/content-parts.ts'
import { parseBody } from '#core/contract/request-issues.ts'
import { issuesOf } from '../shipped-catalogue.ts'

const refusalOf = (content: unknown) => issuesOf(() => parseBody(contentSchema, content))

describe('content-parts: the content of a message', () => {
  it.each([
    ['a string', 'hello'],
    [
      'parts of text and images',
      [
        { type: 'text', text: 'a' },
        { type: 'image_url', image_url: { url: 'u' } },
      ],
    ],
    ['a part of a type that is not listed', [{ type: 'input_audio', input_audio: {} }]],
    ['as many parts as there may be', Array(PARTS_MAX).fill({ type: 'text', text: 'a' })],
  ])('may be %s', (_, content) => {
    expect(parseBody(contentSchema, content)).toEqual(content)
  })

  it.each([
    ['a number', 7, ''],
    ['no part', [], ''],
    ['too many parts', Array(PARTS_MAX + 1).fill({ type: 'text', text: 'a' }), ''],
    ['a part that is a string', ['a'], '0'],
    ['a part without a type', [{ text: 'a' }], '0.type'],
    ['a text part without a text', [{ type: 'text', text: 'a' }, { type: 'text' }], '1.text'],
    ['an image part without a url', [{ type: 'image_url', image_url: {} }], '0.image_url'],
    ['a listed part without its field', [{ type: 'file', text: 'a' }], '0.file'],
  ])('is refused with %s, naming the field', (_, content, path) => {
    expect(refusalOf(content)).toEqual([{ path, message: expect.any(String) }])
  })

  it('is read up to the first part with a fault', () => {
    let looks = 0
    const counted = {
      get type() {
        looks += 1
        return 'image_url'
      },
    }
    expect(refusalOf(Array(PARTS_MAX).fill(counted))).toHaveLength(1)
    expect(looks).toBeLessThan(10)
  })
})

describe('content-parts: imageUrlOf', () => {
  it.each([
    [{ image_url: { url: 'u', detail: 'low' } }, 'u'],
    [{ image_url: 'u' }, 'u'],
    [{ image_url: { url: 7 } }, undefined],
    [{ image_url: null }, undefined],
    [{}, undefined],
  ])('of %j is %j', (part, url) => {
    expect(imageUrlOf(part)).toBe(url)
  })
})
