import { describe, expect, it } from 'vitest'
import { asciiAt, bytesAt, bytesFrom, viewOf } from '#core/media/file-bytes.ts'

const windows = [
  { offset: 0, bytes: Buffer.from('abcd') },
  { offset: 2, bytes: Buffer.from('cdefgh') },
]

describe('bytesFrom', () => {
  it('takes the longest run of any window, up to the length', () => {
    expect(Buffer.from(bytesFrom(windows, 2, 4) ?? []).toString()).toBe('cdef')
    expect(Buffer.from(bytesFrom(windows, 6, 9) ?? []).toString()).toBe('gh')
  })

  it('is undefined where no window covers the offset', () => {
    expect(bytesFrom(windows, 8, 1)).toBeUndefined()
    expect(bytesFrom([], 0, 1)).toBeUndefined()
  })
})

describe('bytesAt', () => {
  it('joins no windows: a single one must hold all bytes', () => {
    expect(bytesAt(windows, { offset: 2, length: 6 })).toHaveLength(6)
    expect(bytesAt(windows, { offset: 1, length: 6 })).toBeUndefined()
  })
})

describe('reads at a position', () => {
  it('asciiAt has one character per byte', () => {
    expect(asciiAt(Uint8Array.of(0x89, 0x50, 0x4e, 0x47), 0, 2)).toBe('\x89P')
  })

  it('viewOf counts from the start of the bytes, not of their buffer', () => {
    expect(viewOf(Buffer.from([9, 9, 1, 2]).subarray(2)).getUint16(0)).toBe(0x0102)
  })
})
