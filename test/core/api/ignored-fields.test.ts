import { describe, expect, it } from '@jest/globals'
import { type IgnoredParts, ignoredHeader, prefersStrict, refuseIgnored } from '#core/api/ignored-fields.ts'
import { InvalidRequestError } from '#core/errors.ts'

describe('ignoredHeader', () => {
  it.each([
    [[], {}],
    [['durration', 'seconds'], { 'x-reelgate-ignored': 'durration, seconds' }],
    [['messages.content.cache_control'], { 'x-reelgate-ignored': 'messages.content.cache_control' }],
    [
      ['a b', 'ſ', '\r\nx: y', '\ud800', ''],
      { 'x-reelgate-ignored': 'a%20b, %C5%BF, %0D%0Ax%3A%20y, %EF%BF%BD, %22%22' },
    ],
  ])('of %j is %j', (names, header) => {
    expect(ignoredHeader(names)).toStrictEqual(header)
  })

  it('names at most 20 fields in at most a kilobyte', () => {
    const value = (names: readonly string[]) => ignoredHeader(names)['x-reelgate-ignored'] ?? ''
    expect(value(Array.from({ length: 30 }, (_, index) => `f${index}`)).split(', ')).toHaveLength(20)
    const long = value(Array.from({ length: 20 }, (_, index) => `${index}${'ü'.repeat(20)}`))
    expect(long.length).toBeLessThanOrEqual(1024)
    expect(long.split(', ').every((name) => name.endsWith('%BC'))).toBe(true)
  })
})

function refusalOf(parts: Partial<IgnoredParts>) {
  try {
    refuseIgnored({ fields: [], query: [], headers: [], ...parts })
  } catch (error) {
    return error instanceof InvalidRequestError ? error : undefined
  }
  return undefined
}

describe('refuseIgnored', () => {
  it('refuses nothing where nothing would be ignored', () => {
    expect(refusalOf({})).toBeUndefined()
  })

  it('says what one name is, and needs no summary', () => {
    expect(refusalOf({ query: ['limt'] })).toMatchObject({
      issues: [
        { path: 'limt', message: 'the query parameter `limt` would be ignored: correct its name or leave it out' },
      ],
      summary: undefined,
    })
  })

  it('names every field, then every query parameter and header, and all of them in one sentence', () => {
    const parts = { fields: ['durration', 'a.b'], query: ['limt'], headers: ['Idempotency-Key'] }
    const { issues, summary } = refusalOf(parts) ?? {}
    expect(issues?.map(({ path }) => path)).toStrictEqual(['durration', 'a.b', 'limt', 'Idempotency-Key'])
    expect(summary).toBe(
      'these would be ignored: `durration`, `a.b`, `limt`, `Idempotency-Key`; correct their names or leave them out',
    )
  })

  it('names at most 20, each at most 64 characters long', () => {
    const fields = Array.from({ length: 30 }, (_, index) => `${index}`.padEnd(100, 'x'))
    const { issues } = refusalOf({ fields }) ?? {}
    expect(issues).toHaveLength(20)
    expect(issues?.every(({ path }) => path.length === 64)).toBe(true)
  })
})

describe('prefersStrict', () => {
  it.each([
    [['handling=strict']],
    [['Handling = STRICT']],
    [['handling="strict"']],
    [['handling="\\s\\trict"']],
    [['respond-async, wait=100, handling=strict']],
    [['\t handling \t=\t strict ']],
    [['return=minimal; foo="a,b;c=\\"", handling=strict; extra=1']],
    [['respond-async', 'wait=10', 'handling=strict']],
    [['handling=strict, handling=lenient']],
    [['handling=strict', 'handling=lenient']],
    [[',, ,handling=strict,']],
    [['handling=strict, "an open string']],
  ])('is true of %j', (lines) => {
    expect(prefersStrict(lines)).toBe(true)
  })

  it.each([
    [[]],
    [['']],
    [['strict']],
    [['handling']],
    [['handling=']],
    [['handling=""']],
    [['handling=lenient']],
    [['handling=stricter']],
    [['handling=" strict"']],
    [['handling=lenient, handling=strict']],
    [['handling=lenient', 'handling=strict']],
    [['handling; a=strict']],
    [['handling=; a=strict']],
    [['wait=1; handling=strict']],
    [['foo="handling=strict, handling=strict"']],
    [['other=handling=strict']],
    [['mishandling=strict']],
    [['"handling"=strict']],
    [['"an open string, handling=strict']],
  ])('is false of %j', (lines) => {
    expect(prefersStrict(lines)).toBe(false)
  })

  it('reads a long malformed line in linear time', () => {
    const before = performance.now()
    for (const line of ['"\\"'.repeat(100_000), ' \t'.repeat(100_000), 'a=,;'.repeat(100_000), '"a'.repeat(100_001)]) {
      expect(prefersStrict([line])).toBe(false)
    }
    expect(performance.now() - before).toBeLessThan(10_000)
  })
})
