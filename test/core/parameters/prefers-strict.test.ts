import { describe, expect, it } from 'vitest'
import { prefersStrict } from '#core/parameters/prefers-strict.ts'

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
    expect(performance.now() - before).toBeLessThan(2_000)
  })
})
