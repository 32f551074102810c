import { hashText, mixBits } from './openai-hash.ts'

/** Bounds the time; more words would change the sum little. */
const WORDS_MAX = 512

/** The step between two states of splitmix32. */
const STEP = 0x9e3779b9

/**
 * A deterministic unit vector; vectors of texts with common words are close. A vector with fewer dimensions is the normalized
 * beginning of a longer one, as with real models.
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
