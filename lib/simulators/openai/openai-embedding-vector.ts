import { hashText, mixBits } from './openai-hash.ts'

/** More words change little in a sum, and cost time. */
const WORDS_MAX = 512

/** The step between two states of splitmix32. */
const STEP = 0x9e3779b9

/**
 * A vector of length 1 that is the same for the same words, and near another one that shares words.
 * A shorter one is the beginning of a longer one, made a unit again, as with real models.
 */
export function embedWords(words: readonly string[], dimensions: number): Float32Array {
  const sum = new Float64Array(dimensions)
  for (const word of words.slice(0, WORDS_MAX)) {
    let state = hashText(word)
    for (let index = 0; index < dimensions; index += 1) {
      state = (state + STEP) | 0
      sum[index] = (sum[index] ?? 0) + mixBits(state) / 0x80000000 - 1
    }
  }
  const length = Math.hypot(...sum)
  return Float32Array.from(sum, (value) => value / length)
}
