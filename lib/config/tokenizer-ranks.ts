import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import cl100kBase from 'js-tiktoken/ranks/cl100k_base'
import { BrokenTokenRanksError, parseTokenRanks, type TokenRanksFile } from '#upstream/tokens/token-ranks.ts'
import { replaceFile } from './replace-file.ts'

/** Deployed functions run as another user and must be able to read the file. */
const ALL_READ = 0o644

/**
 * Writes the vocabulary of cl100k_base, about a megabyte, which `lambdas/upstream/tokens/bound-input-tokens.ts` reads from
 * `TOKENIZER_RANKS_FILE` or from `cl100k_base.json` beside the code of a function.
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

/** Writes the vocabulary if the file is missing or incomplete. */
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

/**
 * Parses lines of a mark, the rank of the first token, and tokens in base64.
 * @throws RangeError for a gap or a token of more than 255 bytes.
 */
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
    throw new RangeError('a token is longer than 255 bytes')
  }
  return tokens
}
