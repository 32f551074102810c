import { describe, expect, it } from 'vitest'
import { boxesIn, boxHeadAt, findBox } from '#core/media/boxes.ts'
import { box } from './media-files.ts'

const head = (size: number, large?: bigint) => {
  const bytes = Buffer.alloc(large === undefined ? 8 : 16)
  bytes.writeUInt32BE(size)
  bytes.write('mdat', 4, 'latin1')
  if (large !== undefined) {
    bytes.writeBigUInt64BE(large, 8)
  }
  return bytes
}

describe('boxHeadAt', () => {
  it('reads a size of 32 bits, of 64 bits, and one that extends to the end of the file', () => {
    expect(boxHeadAt(head(20))).toStrictEqual({ type: 'mdat', contentStart: 8, end: 20 })
    expect(boxHeadAt(head(1, 5_000_000_000n))).toStrictEqual({ type: 'mdat', contentStart: 16, end: 5_000_000_000 })
    expect(boxHeadAt(head(0))).toStrictEqual({ type: 'mdat', contentStart: 8, end: Number.POSITIVE_INFINITY })
  })

  it.each([
    ['too few bytes', head(20).subarray(0, 7)],
    ['a size below its own head', head(7)],
    ['a 64-bit size without its bytes', head(1)],
    ['a 64-bit size below its own head', head(1, 15n)],
    ['a 64-bit size beyond exact numbers', head(1, 2n ** 60n)],
  ])('is undefined for %s', (_, bytes) => {
    expect(boxHeadAt(bytes)).toBeUndefined()
  })
})

describe('boxesIn', () => {
  const bytes = Buffer.concat([box('free'), box('moov', Buffer.from('abc')), box('mdat', Buffer.from('defg'))])

  it('yields adjacent boxes, and of the last one what is there', () => {
    const boxes = Array.from(boxesIn(bytes.subarray(0, -1)), ({ type, content, isWhole }) => [
      type,
      Buffer.from(content).toString(),
      isWhole,
    ])
    expect(boxes).toStrictEqual([
      ['free', '', true],
      ['moov', 'abc', true],
      ['mdat', 'def', false],
    ])
  })

  it('ends at the first invalid box', () => {
    expect(Array.from(boxesIn(Buffer.concat([box('free'), head(3), bytes])), ({ type }) => type)).toStrictEqual([
      'free',
    ])
  })

  it('findBox takes the first of a type', () => {
    expect(findBox(bytes, 'moov')?.content).toHaveLength(3)
    expect(findBox(bytes, 'trak')).toBeUndefined()
    expect(findBox(undefined, 'moov')).toBeUndefined()
  })
})
