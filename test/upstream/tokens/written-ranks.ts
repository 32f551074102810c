import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'
import { readBundledRanks } from '#upstream/tokens/bound-input-tokens.ts'
import { writeTokenizerRanks } from '../../../lib/config/tokenizer-ranks.ts'

const folder = mkdtempSync(join(tmpdir(), 'tokenizer-ranks-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The asset, where a data directory that is not there yet would have it. */
export const RANKS_FILE = join(folder, 'data', 'cl100k_base.json')
writeTokenizerRanks(RANKS_FILE)
process.env.TOKENIZER_RANKS_FILE = RANKS_FILE

export const ranks = readBundledRanks()

/** Runs work that yields between its steps to its end, without a pause. */
export function runSteps<Value>(work: Generator<void, Value>): { readonly value: Value; readonly steps: number } {
  for (let steps = 1; ; steps += 1) {
    const step = work.next()
    if (step.done) {
      return { value: step.value, steps }
    }
  }
}
