import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { replaceFile } from '../../lib/config/replace-file.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reelgate-replace-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

describe('replace-file', () => {
  it('leaves the new content and mode, and no other file', () => {
    const file = join(directory, 'state.json')
    writeFileSync(file, 'old', { mode: 0o644 })
    replaceFile(file, 'new', 0o600)
    expect(readFileSync(file, 'utf8')).toBe('new')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(directory)).toEqual(['state.json'])
  })

  it('gives a reader of the old file the old content to its end', () => {
    const file = join(directory, 'state.json')
    writeFileSync(file, 'old')
    const { ino } = statSync(file)
    replaceFile(file, 'new', 0o600)
    expect(statSync(file).ino).not.toBe(ino)
  })

  it('does not write through a link that stands where its draft goes', () => {
    const outside = join(directory, 'outside')
    const file = join(directory, 'state.json')
    writeFileSync(outside, 'untouched')
    symlinkSync(outside, `${file}.${process.pid}.new`)
    replaceFile(file, 'new', 0o600)
    expect(readFileSync(outside, 'utf8')).toBe('untouched')
  })

  it('throws where the folder does not exist', () => {
    expect(() => replaceFile(join(directory, 'nowhere', 'file'), '{}', 0o600)).toThrow('ENOENT')
  })
})
