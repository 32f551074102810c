import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals'
import * as z from 'zod'
import { parseTokenRanks } from '#adapters/tokens/token-ranks.ts'
import { openCdnKey } from '#local/cdn-key.ts'
import { DataDirectory, readRunningHost } from '#local/data-directory.ts'
import { replaceFile } from '../../lib/config/replace-file.ts'
import { keepTokenizerRanks } from '../../lib/config/tokenizer-ranks.ts'
import { TaskJournal } from '../../lib/simulators/shared/task-journal.ts'

const directory = mkdtempSync(join(tmpdir(), 'reelgate-state-'))
const data = new DataDirectory(directory)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const told: string[] = []
jest.spyOn(console, 'error').mockImplementation((text) => void told.push(String(text)))
afterEach(() => void told.splice(0))

/** What a full disk, a crash or a power cut leaves. */
const BROKEN = ['', '{', '{"pid":', '[]', '{"pid":"one"}', '\0\0\0\0']

describe('a state file', () => {
  it('is replaced as a whole, for its owner alone, and no link is followed', () => {
    const outside = join(directory, 'outside')
    writeFileSync(outside, 'untouched')
    symlinkSync(outside, data.file(`named.json.${process.pid}.new`))
    data.writeJson('named.json', { a: 1 })
    expect(readFileSync(outside, 'utf8')).toBe('untouched')
    expect(statSync(data.file('named.json')).mode & 0o777).toBe(0o600)
    expect(data.readJson('named.json', z.object({ a: z.number() }))).toEqual({ a: 1 })
  })

  it('stays as it was when its new content cannot be written', () => {
    data.writeJson('kept.json', { a: 1 })
    expect(() => replaceFile(join(directory, 'nowhere', 'file'), '{}', 0o600)).toThrow()
    expect(() => data.writeJson('kept.json', { a: 1n })).toThrow()
    expect(data.readJson('kept.json', z.object({ a: z.number() }))).toEqual({ a: 1 })
  })

  it.each(BROKEN)('that holds %j is told in one sentence and made anew', (content) => {
    writeFileSync(data.file('ports.json'), content)
    expect(data.readJson('ports.json', z.object({ pid: z.number() }))).toBeUndefined()
    expect(told).toEqual([`${data.file('ports.json')} is empty, cut or of another program: it is made anew`])
  })

  it('that is not there is nothing to tell', () => {
    expect(data.readJson('absent.json', z.unknown())).toBeUndefined()
    expect(told).toEqual([])
  })
})

describe('an announcement of the host', () => {
  it.each(BROKEN)('that holds %j is refused in one sentence that says what to do', (content) => {
    writeFileSync(data.file('host.json'), content)
    expect(() => readRunningHost(directory)).toThrow(
      `${data.file('host.json')} is empty, cut or of another program: start the host of ${directory} again, which writes it`,
    )
  })

  it('that holds %j keeps no host from starting, which writes it anew', () => {
    for (const content of BROKEN) {
      writeFileSync(data.file('host.json'), content)
      const host = new DataDirectory(directory)
      host.lock()
      expect(readRunningHost(directory)).toEqual({ pid: process.pid })
      host.release()
    }
  })
})

describe('the file of the tokenizer', () => {
  const file = data.file('cl100k_base.json')
  const isWhole = () => parseTokenRanks(readFileSync(file, 'utf8')).encoding === 'cl100k_base'

  it('is made where there is none, and left alone where it is whole', () => {
    keepTokenizerRanks(file)
    expect(isWhole()).toBe(true)
    const { mtimeMs } = statSync(file)
    keepTokenizerRanks(file)
    expect(statSync(file).mtimeMs).toBe(mtimeMs)
  })

  it('is made anew when it is empty, cut, or lacks tokens', () => {
    const { size } = statSync(file)
    for (const length of [0, 1, size - 1]) {
      truncateSync(file, length)
      expect(isWhole).toThrow('the file of the tokenizer is empty or cut: deploy, or start the host, again')
      keepTokenizerRanks(file)
      expect(isWhole()).toBe(true)
    }
    const { bytes, ...rest } = parseTokenRanks(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...rest, bytes: bytes.slice(0, -8) }))
    expect(isWhole).toThrow('the file of the tokenizer lacks tokens: deploy, or start the host, again')
    keepTokenizerRanks(file)
    expect(isWhole()).toBe(true)
  })
})

describe('the signing key of the local CDN', () => {
  it('stays the same over a restart', () => {
    const file = data.file('cdn-key.pem')
    expect(openCdnKey(file)).toEqual(openCdnKey(file))
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('is made anew when its file is empty or cut, and what was in it is not told', () => {
    const file = data.file('cdn-key.pem')
    for (const length of [0, 300]) {
      truncateSync(file, length)
      expect(openCdnKey(file).publicKeyPem).toContain('BEGIN PUBLIC KEY')
    }
    expect(told).toHaveLength(2)
    expect(told[0]).toBe(
      `${file} holds no key: it is made anew, and urls of videos that were signed before are refused`,
    )
  })
})

describe('the journal of a simulator', () => {
  it('keeps its whole lines when a crash has cut the last one', () => {
    const file = data.file('simulator-one.json')
    const line = { kind: 'removed' as const, id: 'one' }
    writeFileSync(file, `${JSON.stringify(line)}\n{"kind":"remo`)
    expect(new TaskJournal(file, z.object({})).read()).toEqual([line])
    expect(readFileSync(file, 'utf8')).toBe(`${JSON.stringify(line)}\n`)
  })
})
