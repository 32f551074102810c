import { describe, expect, it } from 'vitest'
import { imageReference, isImageReference, linkReference } from '#core/parameters/reference-url.ts'

describe('a reference', () => {
  it.each(['https://media.example.com/a.png', 'http://127.0.0.1:9400/a?b=c', 'https://example.com/é'])(
    'may be the link %s',
    (url) => {
      expect(linkReference.safeParse(url).success).toBe(true)
      expect(isImageReference(url)).toBe(true)
    },
  )

  it.each([
    '',
    'ftp://example.com/a',
    'https://',
    'https://example.com/a b',
    'https://[',
    `https://a.com/${'a'.repeat(8192)}`,
  ])('must be a link, unlike %.40j', (url) => {
    expect(linkReference.safeParse(url).success).toBe(false)
    expect(imageReference.safeParse(url).success).toBe(false)
  })

  it('to an image may be the image itself', () => {
    expect(isImageReference('data:image/png;base64,AAAA')).toBe(true)
    expect(isImageReference('data:text/html;base64,AAAA')).toBe(false)
    expect(linkReference.safeParse('data:image/png;base64,AAAA').success).toBe(false)
  })
})
