import { crc32, deflateSync } from 'node:zlib'
import { mixBits } from './openai-hash.ts'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Colours of the gradient, the most that a palette holds. */
const COLOURS = 256

/** Pixels. */
export type ImageSize = { readonly width: number; readonly height: number }

/** A PNG with a gradient between two colours, which the seed determines. */
export function gradientPng(seed: number, { width, height }: ImageSize): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits per pixel, an index into the palette.
  header.set([8, 3], 8)
  // Each row begins with the filter type 0 (none) and has one colour.
  const rows = Buffer.alloc(height * (width + 1))
  for (let row = 0; row < height; row += 1) {
    const start = row * (width + 1)
    rows.fill(Math.floor((row * COLOURS) / height), start + 1, start + 1 + width)
  }
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', paletteOf(seed)),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function paletteOf(seed: number): Buffer {
  const from = mixBits(seed)
  const to = mixBits(seed + 1)
  const palette = Buffer.alloc(COLOURS * 3)
  for (let index = 0; index < palette.length; index += 1) {
    const share = Math.floor(index / 3) / (COLOURS - 1)
    const shift = (index % 3) * 8
    palette[index] = Math.round(((from >>> shift) & 0xff) * (1 - share) + ((to >>> shift) & 0xff) * share)
  }
  return palette
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, check])
}
