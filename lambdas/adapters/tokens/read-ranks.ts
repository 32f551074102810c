import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { once } from '#adapters/once.ts'
import { TokenRanks, type TokenRanksFile } from './token-ranks.ts'

/** The ranks of cl100k_base, read when a text is first long enough to need them: most instances never do. */
export const readRanks: () => TokenRanks = once(() => {
  const file = process.env.TOKENIZER_RANKS_FILE ?? join(process.env.LAMBDA_TASK_ROOT ?? '.', 'cl100k_base.json')
  // `writeTokenizerRanks` wrote it, so it is read as it is.
  const content: TokenRanksFile = JSON.parse(readFileSync(file, 'utf8'))
  return new TokenRanks(content)
})
