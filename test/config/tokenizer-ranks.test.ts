import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { parseTokenRanks } from '#upstream/tokens/token-ranks.ts'
import { keepTokenizerRanks } from '../../lib/config/tokenizer-ranks.ts'

const directory = mkdtempSync(join(tmpdir(), 'reelgate-ranks-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe('tokenizer-ranks: keepTokenizerRanks', () => {
  const file = join(directory, 'cl100k_base.json')
  const isWhole = () => parseTokenRanks(readFileSync(file, 'utf8')).encoding === 'cl100k_base'

  it('writes the file where there is none, and leaves a whole one alone', () => {
    keepTokenizerRanks(file)
    expect(isWhole()).toBe(true)
    const { mtimeMs } = statSync(file)
    keepTokenizerRanks(file)
    expect(statSync(file).mtimeMs).toBe(mtimeMs)
  })

  it('writes the file again when it is empty, cut or lacks tokens', () => {
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
