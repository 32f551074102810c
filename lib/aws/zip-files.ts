import { crc32, deflateRawSync } from 'node:zlib'

/** A file of an archive; its name is relative, with `/` between folders. */
export type ZippedFile = { readonly name: string; readonly bytes: Buffer }

const LOCAL_HEADER = 0x04034b50
const CENTRAL_HEADER = 0x02014b50
const END_OF_DIRECTORY = 0x06054b50

/** Version 2.0 of the format: deflate. The upper byte of the maker says Unix, so that the mode of a file counts. */
const VERSION_NEEDED = 20
const MADE_ON_UNIX = (3 << 8) | VERSION_NEEDED
const UTF8_NAMES = 0x0800
const DEFLATE = 8
/** 1980-01-01, the first date of the format: the same files have the same bytes. */
const DATE = (1 << 5) | 1
/** A regular file that everybody may read. */
const MODE = 0o100644

/**
 * A zip archive (PKWARE APPNOTE 6.3.10), in the order of the files. The same files give the same bytes, so that a digest names the content.
 * CDK zips only when it deploys, and no test could open that archive.
 */
export function zipFiles(files: readonly ZippedFile[]): Buffer {
  const local: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const { name, bytes } of files) {
    const path = Buffer.from(name)
    const packed = deflateRawSync(bytes, { level: 9 })
    const common = commonFields({
      checksum: crc32(bytes),
      packed: packed.length,
      size: bytes.length,
      name: path.length,
    })
    local.push(uint32(LOCAL_HEADER), common, path, packed)
    central.push(uint32(CENTRAL_HEADER), uint16(MADE_ON_UNIX), common, centralFields(offset), path)
    offset += 4 + common.length + path.length + packed.length
  }
  const directory = Buffer.concat(central)
  return Buffer.concat([...local, directory, endOfDirectory(files.length, directory.length, offset)])
}

type Sizes = { readonly checksum: number; readonly packed: number; readonly size: number; readonly name: number }

/** What both headers of a file have, from the needed version to the length of extra fields. */
function commonFields({ checksum, packed, size, name }: Sizes): Buffer {
  return Buffer.concat([
    ...[VERSION_NEEDED, UTF8_NAMES, DEFLATE, 0, DATE].map(uint16),
    ...[checksum, packed, size].map(uint32),
    ...[name, 0].map(uint16),
  ])
}

/** No comment, the first disk, no internal attributes; the mode, and where the file begins. */
function centralFields(offset: number): Buffer {
  return Buffer.concat([...[0, 0, 0].map(uint16), uint32((MODE << 16) >>> 0), uint32(offset)])
}

function endOfDirectory(files: number, length: number, offset: number): Buffer {
  return Buffer.concat([
    uint32(END_OF_DIRECTORY),
    ...[0, 0, files, files].map(uint16),
    ...[length, offset].map(uint32),
    uint16(0),
  ])
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
