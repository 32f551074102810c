import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import cl100kBase from 'js-tiktoken/ranks/cl100k_base'
import { BrokenTokenRanksError, parseTokenRanks, type TokenRanksFile } from '#adapters/tokens/token-ranks.ts'
import { replaceFile } from './replace-file.ts'

/** Functions of a deployment read it as a user of their own. */
const ALL_READ = 0o644

/**
 * Writes the vocabulary of cl100k_base as `lambdas/adapters/tokens/read-ranks.ts` reads it: `TOKENIZER_RANKS_FILE`, or
 * `cl100k_base.json` beside a function's code. About a megabyte.
 */
export function writeTokenizerRanks(file: string): void {
  const tokens = tokensByRank(cl100kBase.bpe_ranks)
  const content: TokenRanksFile = {
    encoding: 'cl100k_base',
    bytes: Buffer.concat(tokens).toString('base64'),
    lengths: Buffer.from(tokens.map((token) => token.length)).toString('base64'),
  }
  mkdirSync(dirname(file), { recursive: true })
  replaceFile(file, JSON.stringify(content), ALL_READ)
}

/** Writes the vocabulary where there is none, or one that a crash has cut; writing takes longer than looking. */
export function keepTokenizerRanks(file: string): void {
  if (!isWhole(file)) {
    writeTokenizerRanks(file)
  }
}

function isWhole(file: string): boolean {
  try {
    parseTokenRanks(existsSync(file) ? readFileSync(file, 'utf8') : '')
    return true
  } catch (error) {
    if (error instanceof BrokenTokenRanksError) {
      return false
    }
    throw error
  }
}

/** Each line holds a mark, the rank of its first token, and tokens in base64. @throws RangeError for a gap or a token of 256 bytes. */
function tokensByRank(lines: string): readonly Buffer[] {
  const tokens: Buffer[] = []
  for (const line of lines.split('\n').filter((each) => each !== '')) {
    const [, firstRank, ...encoded] = line.split(' ')
    if (Number(firstRank) !== tokens.length) {
      throw new RangeError(`the ranks have a gap before ${firstRank}`)
    }
    for (const token of encoded) {
      tokens.push(Buffer.from(token, 'base64'))
    }
  }
  if (tokens.some((token) => token.length > 255)) {
    throw new RangeError('the length of a token does not fit into a byte')
  }
  return tokens
}
