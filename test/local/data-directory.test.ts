import { chmodSync, mkdirSync, mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import * as z from 'zod'
import { DataDirectory, readRunningHost } from '#local/data-directory.ts'

const modeOf = (path: string) => statSync(path).mode & 0o7777
const parent = () => mkdtempSync(join(tmpdir(), 'reelgate-data-'))

/** What a full disk, a crash or a power cut leaves. */
const BROKEN = ['', '{', '{"pid":', '[]', '{"pid":"one"}', '\0\0\0\0']

const told: string[] = []
jest.spyOn(console, 'error').mockImplementation((text) => void told.push(String(text)))
afterEach(() => void told.splice(0))

describe('DataDirectory: the folder', () => {
  it('is readable by its owner only', () => {
    const path = join(parent(), 'a', 'b')
    expect(modeOf(new DataDirectory(path).path)).toBe(0o700)
  })

  it('made by somebody else and left open is closed to others', () => {
    const path = join(parent(), 'data')
    mkdirSync(path)
    chmodSync(path, 0o755)
    expect(modeOf(new DataDirectory(path).path)).toBe(0o700)
  })

  it('shared on purpose, as a folder for temporary files is, keeps its permissions', () => {
    const path = join(parent(), 'shared')
    mkdirSync(path)
    chmodSync(path, 0o1777)
    expect(modeOf(new DataDirectory(path).path)).toBe(0o1777)
  })
})

describe('DataDirectory: a state file', () => {
  const data = new DataDirectory(parent())

  it('is written for its owner only, and a symbolic link in its way is not followed', () => {
    const outside = join(parent(), 'outside')
    writeFileSync(outside, 'untouched')
    symlinkSync(outside, data.file(`named.json.${process.pid}.new`))
    data.writeJson('named.json', { a: 1 })
    expect(readFileSync(outside, 'utf8')).toBe('untouched')
    expect(statSync(data.file('named.json')).mode & 0o777).toBe(0o600)
    expect(data.readJson('named.json', z.object({ a: z.number() }))).toEqual({ a: 1 })
  })

  it('stays as it was when its new content is not JSON', () => {
    data.writeJson('kept.json', { a: 1 })
    expect(() => data.writeJson('kept.json', { a: 1n })).toThrow()
    expect(data.readJson('kept.json', z.object({ a: z.number() }))).toEqual({ a: 1 })
  })

  it.each(BROKEN)('that holds %j is reported in one sentence and counts as absent', (content) => {
    writeFileSync(data.file('ports.json'), content)
    expect(data.readJson('ports.json', z.object({ pid: z.number() }))).toBeUndefined()
    expect(told).toEqual([`${data.file('ports.json')} is empty, cut or of another program: it is made anew`])
  })

  it('that does not exist is not reported', () => {
    expect(data.readJson('absent.json', z.unknown())).toBeUndefined()
    expect(told).toEqual([])
  })
})

describe('readRunningHost', () => {
  const directory = parent()
  const data = new DataDirectory(directory)

  it.each(BROKEN)('refuses a file that holds %j in one sentence that says what to do', (content) => {
    writeFileSync(data.file('host.json'), content)
    expect(() => readRunningHost(directory)).toThrow(
      `${data.file('host.json')} is empty, cut or of another program: start the host of ${directory} again, which writes it`,
    )
  })

  it('reads what the next host has written over a broken file', () => {
    for (const content of BROKEN) {
      writeFileSync(data.file('host.json'), content)
      const host = new DataDirectory(directory)
      host.lock()
      expect(readRunningHost(directory)).toEqual({ pid: process.pid })
      host.release()
    }
  })
})
