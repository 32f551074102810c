import { chmodSync, mkdirSync, mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { DataDirectory } from '#local/data-directory.ts'

const modeOf = (path: string) => statSync(path).mode & 0o7777
const parent = () => mkdtempSync(join(tmpdir(), 'reelgate-data-'))

describe('the data directory', () => {
  it('is for its owner alone, so that nobody else reads the table in it', () => {
    const path = join(parent(), 'a', 'b')
    expect(modeOf(new DataDirectory(path).path)).toBe(0o700)
  })

  it('of an earlier version is closed to others', () => {
    const path = join(parent(), 'data')
    mkdirSync(path)
    chmodSync(path, 0o755)
    expect(modeOf(new DataDirectory(path).path)).toBe(0o700)
  })

  it('that many people share on purpose, as a system does for temporary files, is left to them', () => {
    const path = join(parent(), 'shared')
    mkdirSync(path)
    chmodSync(path, 0o1777)
    expect(modeOf(new DataDirectory(path).path)).toBe(0o1777)
  })
})
