import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { once } from '../once.ts'
import { parseTokenRanks, TokenRanks } from './token-ranks.ts'

/** The ranks of cl100k_base, read when a text is first long enough to need them: most instances never do. @throws BrokenTokenRanksError. */
export const readRanks: () => TokenRanks = once(() => {
  const file = process.env.TOKENIZER_RANKS_FILE ?? join(process.env.LAMBDA_TASK_ROOT ?? '.', 'cl100k_base.json')
  return new TokenRanks(parseTokenRanks(readFileSync(file, 'utf8')))
})
