import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseTokenRanks } from '#adapters/tokens/token-ranks.ts'
import { REPOSITORY_ROOT } from '#aws/function-sources.ts'
import { packRelayServer } from '#aws/pack-relay-server.ts'
import { zipFiles } from '#aws/zip-files.ts'
import { readZip } from '../engines/unzip.ts'

const folder = mkdtempSync(join(tmpdir(), 'pack-relay-server-'))
const configurationFile = join(folder, 'gateway.json')
let archive: Buffer

beforeAll(() => {
  writeFileSync(configurationFile, '{"channels":[]}')
  archive = packRelayServer({ root: REPOSITORY_ROOT, configurationFile })
}, 60_000)
afterAll(() => rmSync(folder, { recursive: true }))

describe('packRelayServer', () => {
  it('has the file that the runtime loads, which loads the bundle and needs no variable of AWS', () => {
    const entry = readZip(archive).get('index.js')?.toString('utf8')
    expect(entry).toContain("import('./index.mjs')")
    expect(entry).not.toContain('AWS_LAMBDA_')
    expect(readZip(archive).has('package.json')).toBe(false)
  })

  it('has the configuration and the vocabulary beside the code', () => {
    const files = readZip(archive)
    expect(files.get('gateway.json')?.toString('utf8')).toBe('{"channels":[]}')
    expect(parseTokenRanks(files.get('cl100k_base.json')?.toString('utf8') ?? '')).toBeDefined()
  })

  it('has the same bytes for the same sources, so that its digest names its content', () => {
    expect(packRelayServer({ root: REPOSITORY_ROOT, configurationFile }).equals(archive)).toBe(true)
  })

  it('takes no address from what a client says of itself', () => {
    const code = [...readZip(archive)].filter(([name]) => name.endsWith('.mjs')).map(([, bytes]) => bytes.toString())
    expect(code.join('').toLowerCase()).not.toMatch(/x-forwarded-for|x-real-ip|forwarded-host/)
  })
})

describe('zipFiles', () => {
  it('keeps names and bytes, of empty files and in folders too', () => {
    const files = [
      { name: 'index.js', bytes: Buffer.from('hello') },
      { name: 'a/ä.bin', bytes: Buffer.alloc(100_000, 'x') },
      { name: 'empty', bytes: Buffer.alloc(0) },
    ]
    expect([...readZip(zipFiles(files))]).toEqual(files.map(({ name, bytes }) => [name, bytes]))
  })

  it('makes files that the runtime may read', () => {
    const bytes = zipFiles([{ name: 'a', bytes: Buffer.from('a') }])
    const central = bytes.indexOf(Buffer.from('PK\u0001\u0002'))
    expect([bytes.readUInt8(central + 5), (bytes.readUInt32LE(central + 38) >>> 16).toString(8)]).toEqual([3, '100644'])
  })
})
