import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { crc32, inflateRawSync } from 'node:zlib'

const END_BYTES = 22
const CENTRAL_HEADER = 0x02014b50

/** The files of a zip archive by their names, read from its central directory as an unpacker reads them, with their checksums checked. */
export function readZip(archive: Buffer): ReadonlyMap<string, Buffer> {
  const end = archive.length - END_BYTES
  expectField(archive.readUInt32LE(end), 0x06054b50, 'end of the directory')
  const files = new Map<string, Buffer>()
  let at = archive.readUInt32LE(end + 16)
  for (let index = 0; index < archive.readUInt16LE(end + 10); index += 1) {
    expectField(archive.readUInt32LE(at), CENTRAL_HEADER, 'header')
    const nameEnd = at + 46 + archive.readUInt16LE(at + 28)
    const name = archive.toString('utf8', at + 46, nameEnd)
    files.set(name, contentOf(archive, at))
    at = nameEnd
  }
  expectField(at, end, 'length of the directory')
  return files
}

/** Writes the files of an archive below a folder. */
export function unzip(archive: Buffer, folder: string): void {
  for (const [name, bytes] of readZip(archive)) {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, bytes)
  }
}

function contentOf(archive: Buffer, at: number): Buffer {
  const begin = archive.readUInt32LE(at + 42)
  expectField(archive.readUInt32LE(begin), 0x04034b50, 'local header')
  // Both headers of a file must say the same, because unpackers differ in which of them they read.
  expectField(archive.toString('hex', begin + 4, begin + 30), archive.toString('hex', at + 6, at + 32), 'local fields')
  const data = begin + 30 + archive.readUInt16LE(begin + 26)
  const bytes = inflateRawSync(archive.subarray(data, data + archive.readUInt32LE(at + 20)))
  expectField(bytes.length, archive.readUInt32LE(at + 24), 'size')
  expectField(crc32(bytes), archive.readUInt32LE(at + 16), 'checksum')
  return bytes
}

function expectField(found: unknown, expected: unknown, field: string): void {
  if (found !== expected) {
    throw new Error(`the archive has the ${field} ${found} instead of ${expected}`)
  }
}
