import { inflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { gradientPng } from '../../../lib/simulators/openai/openai-png.ts'

describe('openai-png', () => {
  it('is a PNG of the size, with one row of pixels per line', () => {
    const png = gradientPng(7, { width: 64, height: 32 })
    expect(png.subarray(1, 4).toString()).toBe('PNG')
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([64, 32])
    const data = png.indexOf('IDAT')
    const rows = inflateSync(png.subarray(data + 4, data + 4 + png.readUInt32BE(data - 4)))
    expect(rows).toHaveLength(32 * 65)
  })

  it('depends on its seed, and on nothing else', () => {
    const size = { width: 8, height: 8 }
    expect(gradientPng(1, size)).toEqual(gradientPng(1, size))
    expect(gradientPng(1, size)).not.toEqual(gradientPng(2, size))
  })
})
