import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EmbeddingInputs } from '#core/api/embedding-request.ts'
import type { EmbeddingModel } from '#core/catalogue/model.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { once } from '../../platform/cache.ts'
import { nextTurn, Places } from '../../platform/concurrency.ts'
import { countTokens } from './count-tokens.ts'
import { parseTokenRanks, type RankLookup, TokenRanks } from './token-ranks.ts'

/** The ranks of cl100k_base, read when a text is first long enough to need them: most instances never do. @throws BrokenTokenRanksError. */
export const readBundledRanks: () => TokenRanks = once(() => {
  const file = process.env.TOKENIZER_RANKS_FILE ?? join(process.env.LAMBDA_TASK_ROOT ?? '.', 'cl100k_base.json')
  return new TokenRanks(parseTokenRanks(readFileSync(file, 'utf8')))
})

/** Bytes of the longest token of cl100k_base, a run of spaces. A string with more bytes per allowed token is too long. */
export const TOKEN_BYTES_MAX = 128

/** Counting a string up to this length takes little memory. A longer one, which is rarely within a limit, takes 28 times its size. */
const LONG_TEXT_BYTES = 65_536

/** The number of long strings that are counted at a time, which bounds the memory. */
const longTexts = new Places(2)

type Options = {
  readonly model: Pick<EmbeddingModel, 'max_input_tokens'>
  /** Called only when a string has to be counted. */
  readonly readRanks?: () => RankLookup
}

/**
 * Checks each input against the model's limit of tokens.
 * @returns for each input an upper bound of its tokens, which bounds the cost: its length in bytes if that is within the limit
 * (a byte-level tokenizer never makes more tokens than bytes), or else its exact count.
 * @throws InvalidRequestError naming the input by its index, never by its content.
 */
export async function boundInputTokens(inputs: EmbeddingInputs, options: Options): Promise<readonly number[]> {
  const { model, readRanks = readBundledRanks } = options
  const limit = model.max_input_tokens
  if (inputs.kind === 'tokens') {
    refuseAbove(limit, inputs.counts, limit)
    return inputs.counts
  }
  const bounds = inputs.texts.map((text) => Buffer.byteLength(text))
  // Inputs that are too long for any count are refused before the first string is counted.
  refuseAbove(limit * TOKEN_BYTES_MAX, bounds, limit)
  for (const [index, text] of inputs.texts.entries()) {
    if ((bounds[index] ?? 0) > limit) {
      const count = await countInTurns(text, readRanks(), limit)
      if (count > limit) {
        throw tooLong(index, limit)
      }
      bounds[index] = count
    }
  }
  return bounds
}

/** Counts in steps; other requests get their turn between them. */
async function countInTurns(text: string, ranks: RankLookup, limit: number): Promise<number> {
  const place = text.length > LONG_TEXT_BYTES ? await longTexts.take() : undefined
  try {
    const steps = countTokens(text, ranks, limit)
    for (let step = steps.next(); ; step = steps.next()) {
      await nextTurn()
      if (step.done) {
        return step.value
      }
    }
  } finally {
    place?.()
  }
}

function refuseAbove(most: number, bounds: readonly number[], limit: number): void {
  const index = bounds.findIndex((bound) => bound > most)
  if (index !== -1) {
    throw tooLong(index, limit)
  }
}

function tooLong(index: number, limit: number): InvalidRequestError {
  return new InvalidRequestError([{ path: 'input', message: `\`input[${index}]\` must be at most ${limit} tokens` }])
}
