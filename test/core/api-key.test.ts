import { crc32 } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { base62FromBytes, bearerKey, formatApiKey, isPlausibleKey, keyIdOf } from '#core/api-key.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const KEY = formatApiKey('Ab3dEf9h', 'k'.repeat(32))

const base62 = (length: number) =>
  fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: length, maxLength: length })

/** The number that six characters stand for. */
function base62Value(text: string): number {
  return Array.from(text).reduce((value, character) => value * 62 + ALPHABET.indexOf(character), 0)
}

describe('formatApiKey', () => {
  it('has the documented shape', () => {
    expect(KEY).toMatch(/^rg_live_Ab3dEf9h_k{32}[0-9A-Za-z]{6}$/)
  })

  it('ends with the CRC-32 of all before it', () => {
    fc.assert(
      fc.property(base62(8), base62(32), (id, secret) => {
        const key = formatApiKey(id, secret)
        return base62Value(key.slice(-6)) === crc32(key.slice(0, -6))
      }),
    )
  })

  it('keeps the checksum of a known key', () => {
    expect(KEY.slice(-6)).toBe('0Fc0MN')
  })
})

describe('isPlausibleKey', () => {
  it('is true for every key that was made, which also tells its id', () => {
    fc.assert(
      fc.property(base62(8), base62(32), (id, secret) => {
        const key = formatApiKey(id, secret)
        return isPlausibleKey(key) && keyIdOf(key) === id
      }),
    )
  })

  it('is false for any single mistyped character behind the prefix', () => {
    for (let index = 'rg_live_'.length; index < KEY.length; index += 1) {
      const other = KEY[index] === 'x' ? 'y' : 'x'
      expect(isPlausibleKey(KEY.slice(0, index) + other + KEY.slice(index + 1))).toBe(false)
    }
  })

  it.each([
    'rg_live_',
    `${KEY}0`,
    KEY.slice(0, -1),
    KEY.replace('_k', '-k'),
    `${KEY} `,
    `${KEY}\n`,
    `rg_live_${'a'.repeat(10_000)}`,
  ])('is false for %j, which claims to be ours', (key) => {
    expect(isPlausibleKey(key)).toBe(false)
  })

  it('leaves keys of other shapes to the look-up', () => {
    expect(isPlausibleKey('sk-anything')).toBe(true)
    expect(keyIdOf('sk-anything')).toBeUndefined()
    expect(isPlausibleKey(KEY.toUpperCase())).toBe(true)
  })
})

describe('bearerKey', () => {
  it.each([`Bearer ${KEY}`, `bearer ${KEY}`, `BEARER ${KEY}`])('reads the key of %s', (header) => {
    expect(bearerKey(header)).toBe(KEY)
  })

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    KEY,
    `Bearer  ${KEY}`,
    ` Bearer ${KEY}`,
    `Bearer ${KEY} `,
    `Bearer\t${KEY}`,
    `Bearer ${KEY}\n`,
    `Bearer ${KEY}, Bearer ${KEY}`,
    `Basic ${KEY}`,
    `Bearer${KEY}`,
    `Bearer ${KEY}\0`,
    'Bearer schlüssel',
    'Bearer 钥匙',
    `Bearer ${'k'.repeat(513)}`,
    `Bearer ${'k'.repeat(10_000)}`,
  ])('reads none from %j', (header) => {
    expect(bearerKey(header)).toBeUndefined()
  })

  it('reads a key of the longest length', () => {
    expect(bearerKey(`Bearer ${'k'.repeat(512)}`)).toHaveLength(512)
  })
})

describe('base62FromBytes', () => {
  it('makes every character from the same number of byte values', () => {
    const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    const counts = new Map<string, number>()
    for (const character of base62FromBytes(everyByte, 248)) {
      counts.set(character, (counts.get(character) ?? 0) + 1)
    }
    expect(Array.from(counts.keys()).toSorted()).toStrictEqual(Array.from(ALPHABET).toSorted())
    expect(new Set(counts.values())).toStrictEqual(new Set([4]))
    expect(() => base62FromBytes(everyByte, 249)).toThrow(RangeError)
  })

  it('gives exactly as many characters as asked for', () => {
    expect(base62FromBytes(new Uint8Array(40), 32)).toBe('0'.repeat(32))
    expect(base62FromBytes(new Uint8Array(), 0)).toBe('')
  })

  it('throws rather than give fewer', () => {
    expect(() => base62FromBytes(new Uint8Array(32).fill(250), 1)).toThrow(RangeError)
  })
})
