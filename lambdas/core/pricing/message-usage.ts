import { isJsonObject, type JsonObject } from '../json/parse-json-text.ts'
import { believedUsage, readTokenUsage, type TokenCounts, tokensByLength } from './token-usage.ts'

/** The fields of a usage that are read, in any form of the interfaces. */
const USAGE_FIELDS = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cached_tokens',
  'prompt_cache_hit_tokens',
  'prompt_tokens_details',
  'input_tokens_details',
  'completion_tokens_details',
  'output_tokens_details',
] as const

/** The counts that say how much was generated. */
const OUTPUT_FIELDS = ['output_tokens', 'completion_tokens', 'total_tokens'] as const

/**
 * The usage of a streamed message: its parts come with the first event and, as running totals, with later ones. Until the upstream has
 * said how much it generated, at least the text that came counts. What a message begins with is no such count.
 */
export class MessageUsage {
  #reported: JsonObject = {}
  #hasBegun = false
  #isFinal = false
  #hasEnded = false
  #outputTokens = 0
  #textBytes = 0

  /** Bytes that were generated. */
  get textBytes(): number {
    return this.#textBytes
  }

  /** What the upstream has reported, in its own fields. */
  get reported(): JsonObject {
    return { ...this.#reported, output_tokens: this.#output }
  }

  /** The usage of the first event. Of two, the first one counts. */
  begin(usage: unknown): void {
    if (!this.#hasBegun) {
      this.#hasBegun = true
      this.#reported = mergedUsage(mergedUsage({}, usage), this.#reported)
    }
  }

  /** Running totals, which never fall: a lower one, or none, changes nothing. */
  add(usage: unknown): void {
    if (isJsonObject(usage)) {
      this.#reported = mergedUsage(this.#reported, { ...usage, output_tokens: null })
      this.#outputTokens = Math.max(this.#outputTokens, countOf(usage.output_tokens))
      this.#isFinal ||= OUTPUT_FIELDS.some((name) => countOf(usage[name]) > 0)
    }
  }

  generated(bytes: number): void {
    this.#textBytes += bytes
  }

  /** The last event has come. */
  end(): void {
    this.#hasEnded = true
  }

  /**
   * What is billed; undefined where nothing was generated, or the upstream leaves out the input.
   * @param hasGenerated whether anything came, text or not.
   */
  counts(hasGenerated: boolean): TokenCounts | undefined {
    const counts = readTokenUsage(this.reported)
    return this.#isFinal || this.#hasEnded || hasGenerated ? believedUsage(counts, hasGenerated) : undefined
  }

  get #output(): number {
    const begun = countOf(this.#reported.output_tokens)
    return this.#isFinal ? this.#outputTokens || begun : Math.max(begun, tokensByLength(this.#textBytes))
  }
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : 0
}

/** The usage of a message so far. Later counts replace earlier ones; a zero stands for a count that is left out. */
function mergedUsage(earlier: JsonObject, later: unknown): JsonObject {
  if (!isJsonObject(later)) {
    return earlier
  }
  const isNews = (name: string) => later[name] != null && !(later[name] === 0 && earlier[name] !== undefined)
  const news = USAGE_FIELDS.filter(isNews).map((name) => [name, later[name]])
  return { ...earlier, ...Object.fromEntries(news) }
}
