import { describe, expect, it } from 'vitest'
import { credentialFilter } from '#core/without-credentials.ts'

const KEY = 'sk-live/A1"b\\c=+z'
const without = credentialFilter([KEY])
const unicode = (text: string) =>
  Array.from(text, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const percent = (text: string) =>
  Array.from(text, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')

describe('a credential in the words of an upstream', () => {
  it.each([
    ['as it is', KEY],
    ['in a JSON string', JSON.stringify(KEY).slice(1, -1)],
    ['in a JSON string inside of a JSON string', JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
    ['with every slash escaped', JSON.stringify(KEY).slice(1, -1).replaceAll('/', '\\/')],
    ['with every character escaped', unicode(KEY)],
    ['with every character escaped in upper case', unicode(KEY).toUpperCase().replaceAll('U', 'u')],
    ['as part of a url', encodeURIComponent(KEY)],
    ['as part of a url, in lower case', encodeURIComponent(KEY).replaceAll(/%../g, (code) => code.toLowerCase())],
    ['with every character percent-encoded', percent(KEY)],
    ['percent-encoded twice', encodeURIComponent(encodeURIComponent(KEY))],
  ])('is replaced by a label %s', (_, form) => {
    expect(without(`{"error":{"message":"Bearer ${form} is wrong, ${form}"}}`)).toBe(
      '{"error":{"message":"Bearer [redacted] is wrong, [redacted]"}}',
    )
  })

  it('is replaced among bytes given as text', () => {
    const bytes = Buffer.from(`漢 ${KEY} 漢`).toString('latin1')
    expect(Buffer.from(without(bytes), 'latin1').toString('utf8')).toBe('漢 [redacted] 漢')
  })

  it('is replaced whichever key of the call it is', () => {
    expect(credentialFilter(['first-key-1', 'second-key-2'])('first-key-1 second-key-2')).toBe('[redacted] [redacted]')
  })

  it('leaves every other text as it is, and looks for no key that could be a word', () => {
    const text = '{"message":"no such model \\u0041 100%"}'
    expect(without(text)).toBe(text)
    expect(credentialFilter(['none', ''])('none of these')).toBe('none of these')
  })

  it.each(['\\', '%25', '\\u0073', 'sk-live', '\\\\\\s'])(
    'is looked for in linear time in a megabyte of %s',
    (piece) => {
      const text = piece.repeat(1_000_000 / piece.length)
      const startedAt = performance.now()
      expect(without(text)).toBe(text)
      expect(performance.now() - startedAt).toBeLessThan(2_000)
    },
  )
})
