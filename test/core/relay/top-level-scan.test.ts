import { describe, expect, it } from 'vitest'
import { TopLevelScan } from '#core/relay/top-level-scan.ts'

/** For each byte of a text, where it stands: outside (o), between values (b), in a value (v), in an object or list named w in one (w). */
function parts(text: string): string {
  const scan = new TopLevelScan('choices', (name) => name === 'w')
  const letters = { outside: 'o', between: 'b', value: 'v', watched: 'w' }
  return [...Buffer.from(text)]
    .map((byte) => {
      scan.step(byte)
      return letters[scan.part]
    })
    .join('')
}

describe('TopLevelScan', () => {
  it.each([
    ['{"a":1}', 'obbbbvo'],
    [' { "a" : "}" } ', 'oobbbbbbbvvvboo'],
    ['{"a":{"b":[1]},"c":null}', 'obbbbvvvvvvvvvbbbbbvvvvo'],
    ['{}', 'oo'],
    ['{"a":[{"w" : [1],"x":1}]}', 'obbbbvvvvvvvvwwwvvvvvvvvo'],
    ['{"a":{"\\u0077":{"w":{}}}}', 'obbbbvvvvvvvvvvwwwwwwwwvo'],
    ['{"w":{"a":"w","w":1}}', 'obbbbvvvvvvvvvvvvvvvo'],
    ['{"a":["w",{}]}', 'obbbbvvvvvvvvo'],
    ['[{"a":1}]', 'ooooooooo'],
  ])('knows where each byte of %s stands', (text, expected) => {
    expect(parts(text)).toBe(expected)
  })

  it('skips only bytes that change nothing', () => {
    const text = Buffer.from('{"a":"xx\\"xx","choices":[{"b":[11,22]},{}],"usage":{"c":1}}')
    const scan = new TopLevelScan('choices')
    let steps = 0
    for (let at = scan.skip(text, 0); at < text.length; at = scan.skip(text, at + 1)) {
      scan.step(text[at] ?? 0)
      steps += 1
    }
    expect(steps).toBeLessThan(text.length)
    expect([scan.isComplete, scan.entries, scan.usage]).toStrictEqual([true, 2, { c: 1 }])
  })
})
