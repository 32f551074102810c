import { describe, expect, it } from '@jest/globals'
import { formatSessionToken } from '#core/admin/session.ts'
import { formatAdminKey } from '#core/api-key.ts'
import {
  credentialFilter,
  isPrintable,
  logWord,
  printable,
  printableJson,
  printableLines,
  publicModelFilter,
  withoutSecrets,
} from '#core/redaction.ts'
import { createWebhookSecret } from '#platform/callback-signature.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { generateApiKey } from '#store/keys/key-changes.ts'

describe('withoutSecrets', () => {
  it.each([
    ['an API key', generateApiKey()],
    ['an admin key', formatAdminKey('8fK2mQ0z', 'x'.repeat(32))],
    ['a token of a session', formatSessionToken({ sessionId: 'x'.repeat(16), key: undefined }, '_'.repeat(43))],
    ['a callback secret', createWebhookSecret()],
    ['a digest', sha256Hex('key')],
    ['a private key', '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----'],
  ])('removes %s from a string', (_, secret) => {
    expect(withoutSecrets(`before ${secret}`)).toBe('before [redacted]')
  })

  it.each(['?X-Amz-Signature=', '&Signature='])('removes the signature of a url after %s', (before) => {
    expect(withoutSecrets(`https://cdn.example.com/v.mp4${before}ab~cd- end`)).toBe(
      `https://cdn.example.com/v.mp4${before}[redacted] end`,
    )
  })

  it('leaves names, ids and ARNs as they are', () => {
    const harmless = 'arn:aws:sts::123456789012:assumed-role/Admin/alice 0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c 8fK2mQ0z'
    expect(withoutSecrets(harmless)).toBe(harmless)
  })
})

describe('publicModelFilter: the id of an upstream', () => {
  const shown = publicModelFilter('acme/chat-4.1', 'small')

  it.each([
    ['as a word', 'acme/chat-4.1 is not "acme/chat-4.1"', 'small is not "small"'],
    ['with escaped slashes', 'no acme\\/chat-4.1', 'no small'],
    ['after the escape of a line end', 'no such model:\\nacme/chat-4.1', 'no such model:\\nsmall'],
    ['within a path', 'publishers/acme/chat-4.1:free', 'publishers/small:free'],
    ['not within a longer word', 'acme/chat-4.11, bacme/chat-4.1 and acme/chat-441', undefined],
    ['not as the name of a field', '{"acme/chat-4.1" : 1}', undefined],
  ])('becomes the public one %s', (_, text, expected) => {
    expect(shown(text)).toBe(expected ?? text)
  })
})

const KEY = 'sk-live/A1"b\\c=+z'
const without = credentialFilter([KEY])
const unicode = (text: string) =>
  Array.from(text, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const percent = (text: string) =>
  Array.from(text, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')

describe('credentialFilter: a credential in the words of an upstream', () => {
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
      expect(performance.now() - startedAt).toBeLessThan(10_000)
    },
  )
})

describe('printable', () => {
  it.each([
    ['a control sequence', '\u001b[2J', '\\u{1b}[2J'],
    ['a control sequence of one byte', '\u009b2J', '\\u{9b}2J'],
    ['a carriage return, which would overwrite the line', 'a\rb', 'a\\u{d}b'],
    ['a delete', '\u007f', '\\u{7f}'],
    ['a line separator of Unicode', 'a\u2028b', 'a\\u{2028}b'],
    ['a mark that reverses the order of letters', 'a\u202eb', 'a\\u{202e}b'],
  ])('escapes %s', (_, text, shown) => {
    expect(printable(text)).toBe(shown)
    expect(isPrintable(text)).toBe(false)
    expect(isPrintable(shown)).toBe(true)
  })

  it.each(['plain', 'Zürich 東京', 'שלום', '👩‍🚀'])('leaves %j as it is', (text) => {
    expect(printable(text)).toBe(text)
    expect(isPrintable(text)).toBe(true)
  })

  it('printableJson escapes the same, and a program reads the exact value', () => {
    const value = { 'a\u009b': ['\u001b[2J\u202e', '\n\u007f', '東京'] }
    expect(isPrintable(printableJson(value))).toBe(true)
    expect(JSON.parse(printableJson(value))).toEqual(value)
  })

  it('printableLines keeps lines apart, and escapes each', () => {
    expect(printableLines('a\n\u001bb\n')).toBe('a\n\\u{1b}b\n')
  })
})

describe('logWord: a word of an upstream', () => {
  it.each([
    ['POST_PROCESSING', 'POST_PROCESSING'],
    ['-5', '-5'],
    ['a\u001b[2J\nb\u2028c\u007f', 'a\\u001b[2J\\u000ab\\u2028c\\u007f'],
    ['\ud83d', '\\ud83d'],
  ])('of %j is %j: no character of it moves a cursor or ends the line', (text, logged) => {
    expect(logWord(text)).toBe(logged)
  })

  it('is cut where it is no word any more', () => {
    expect(logWord('x'.repeat(40))).toBe('x'.repeat(40))
    expect(logWord('x'.repeat(100_000))).toBe(`${'x'.repeat(40)}...`)
  })
})
