import { describe, expect, it } from 'vitest'
import { referenceName, withoutFileName } from '#core/media/reference-name.ts'

describe('the name of a reference', () => {
  it.each([
    ['https://cdn.example/a/cat.png', 'image_urls[0] (cat.png)'],
    ['https://cdn.example/a/my%20cat.jpeg?X-Amz-Signature=secret#part', 'image_urls[0] (my cat.jpeg)'],
    ['https://user:secret@cdn.example/cat.png', 'image_urls[0] (cat.png)'],
  ])('is its place and the name of its file: %s', (url, name) => {
    expect(referenceName('image_urls[0]', url)).toBe(name)
  })

  it.each([
    'https://cdn.example/',
    'https://cdn.example/signed/2f8a9c0b7d6e5f4a3b2c1d0e',
    `https://cdn.example/${'a'.repeat(100)}.png`,
    'https://cdn.example/%E7%8C%AB.png',
    'https://cdn.example/%E7%8C.png',
    'https://cdn.example/a%2Fsecret.png',
    'https://cdn.example/a%0Ab.png',
    'data:image/png;base64,AAAA/cat.png',
    'not a url/cat.png',
  ])('is its place alone where the rest may be anything: %s', (url) => {
    expect(referenceName('video_urls[0]', url)).toBe('video_urls[0]')
  })
})

describe('a sentence about a reference, without the name of its file', () => {
  it.each([
    'https://cdn.example/sk-live-abcdefgh12345.png',
    'https://cdn.example/my%20cat.v2.jpeg',
    'https://cdn.example/',
  ])('keeps the place and the limit: %s', (url) => {
    const sentence = `${referenceName('video_urls[12]', url)} has 299x400 pixels`
    expect(withoutFileName(sentence)).toBe('video_urls[12] has 299x400 pixels')
  })

  it('leaves other words as they are', () => {
    const words = 'the upstream failed (HTTP 500) for image_urls[0] (see above)'
    expect(withoutFileName(words)).toBe(words)
  })
})
