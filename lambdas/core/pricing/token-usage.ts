import { isJsonObject, type JsonObject } from '../json/parse-json-text.ts'
import { type CheckedUsage, type CountedUsage, countedUsage } from './usage.ts'

/** The parts of the input, each with a price of its own. */
export const INPUT_PARTS = ['input', 'cachedInput', 'cachedInputExplicit', 'cacheWrite', 'cacheWrite1h'] as const

/** The tokens of one or more calls of an upstream, in parts that never overlap. Each part is a non-negative integer. */
export type TokenCounts = Readonly<Record<(typeof INPUT_PARTS)[number], number>> & {
  /** Reasoning included. */
  readonly output: number
  /** Present if the reported parts contradicted the reported whole, and were cut. */
  readonly isCorrected?: true
}

const NONE: TokenCounts = {
  input: 0,
  cachedInput: 0,
  cachedInputExplicit: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 0,
}

/**
 * Counts with zero for every part that is left out: `input` is fresh, `cachedInput` and `cachedInputExplicit` were read from a
 * cache, `cacheWrite` and `cacheWrite1h` were written to one.
 */
export function tokenCounts(parts: Partial<TokenCounts>): TokenCounts {
  return { ...NONE, ...parts }
}

/** All input, whatever the cache had to do with it. */
export function inputTokensOf(counts: TokenCounts): number {
  return INPUT_PARTS.reduce((sum, part) => sum + counts[part], 0)
}

/** Whether not one token was counted. */
export function isNothing(counts: TokenCounts): boolean {
  return counts.output === 0 && inputTokensOf(counts) === 0
}

/** The sum of several counts; nothing for an empty list. */
export function sumOfTokenCounts(all: readonly TokenCounts[]): TokenCounts {
  return all.reduce(
    (sum, counts) => ({
      input: sum.input + counts.input,
      cachedInput: sum.cachedInput + counts.cachedInput,
      cachedInputExplicit: sum.cachedInputExplicit + counts.cachedInputExplicit,
      cacheWrite: sum.cacheWrite + counts.cacheWrite,
      cacheWrite1h: sum.cacheWrite1h + counts.cacheWrite1h,
      output: sum.output + counts.output,
    }),
    NONE,
  )
}

/** The counts as a settlement records them. */
export function countedTokens(counts: TokenCounts): CountedUsage {
  return countedUsage({
    inputTokens: counts.input,
    cachedInputTokens: counts.cachedInput + counts.cachedInputExplicit,
    cacheWriteTokens: counts.cacheWrite + counts.cacheWrite1h,
    outputTokens: counts.output,
  })
}

/** The tokens by the names that the log line and the metrics have for them: all input, and its parts that a cache had to do with. */
export function tokenFacts(counts: TokenCounts) {
  const { cachedInputTokens, cacheWriteTokens } = countedTokens(counts)
  return {
    inputTokens: inputTokensOf(counts),
    cachedInputTokens: cachedInputTokens || undefined,
    cacheWriteTokens: cacheWriteTokens || undefined,
    outputTokens: counts.output,
  }
}

/** Sums of a few counts of this size are exact. No model comes near. */
const COUNT_MAX = 2 ** 48

/**
 * Reads the `usage` of an upstream, in any form of the interfaces for chats, responses and messages, as parts that never
 * overlap and sum to the whole. Which names and forms upstreams use: docs/decisions/0132.
 *
 * A count that is missing follows from `total_tokens`. A part above its whole is cut to the whole (`isCorrected`).
 * @returns undefined if the counts are missing, are no integers, or are all zero beside a total above zero.
 */
export function readTokenUsage(usage: unknown): TokenCounts | undefined {
  if (!isJsonObject(usage)) {
    return undefined
  }
  const stated = firstAboveZero(usage.prompt_tokens, usage.input_tokens)
  const generated = firstAboveZero(usage.completion_tokens, usage.output_tokens)
  const total = summableCount(usage.total_tokens)
  const prompt = stated ?? difference(total, generated)
  const completion = generated ?? difference(total, stated)
  if (prompt === undefined || completion === undefined) {
    return undefined
  }
  const cache = readCache(usage)
  const form = formOf(usage, { prompt, completion, total, cache })
  const counts = disjoint({ ...form, cache })
  return isNothing(counts) && total !== undefined && total > 0 ? undefined : counts
}

/** Drops a usage without input for a reply with generated text: no prompt is empty, and none is free. */
export function believedUsage(usage: TokenCounts | undefined, isGenerated: boolean): TokenCounts | undefined {
  return isGenerated && usage !== undefined && inputTokensOf(usage) === 0 ? undefined : usage
}

/**
 * The tokens of the `usage` of an embedding; zero for no plausible number. An embedding has no output, so the total is the prompt.
 * No input is empty, so zero tokens mean that the upstream left them out.
 */
export function readPromptTokens(usage: unknown): number {
  const { prompt_tokens, total_tokens }: JsonObject = isJsonObject(usage) ? usage : {}
  return tokenCount(prompt_tokens) || tokenCount(total_tokens) || 0
}

/** Reads a number of tokens; undefined for anything else. Callers bound the number before billing. */
function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined
}

/** As {@link tokenCount}, small enough for exact sums. */
function summableCount(value: unknown): number | undefined {
  const count = tokenCount(value)
  return count === undefined ? undefined : Math.min(count, COUNT_MAX)
}

/** What the cache had to do with the input. */
type Cache = {
  readonly read: number
  /** For any time. */
  readonly written: number
  /** The part of `written` that lasts for an hour or longer. */
  readonly writtenLong: number
  /** Whether the request had asked for the cache. */
  readonly isExplicit: boolean
}

/** The same number may stand under several names, and upstreams fill those that they do not use with zero. */
function readCache(usage: JsonObject): Cache {
  const details = [usage.prompt_tokens_details, usage.input_tokens_details].filter(isJsonObject)
  const everywhere = [usage, ...details]
  const creations = everywhere.map(({ cache_creation }) => cache_creation).filter(isJsonObject)
  const writes = details.map(({ cache_write_tokens_details }) => cache_write_tokens_details).filter(isJsonObject)
  const writtenLong = largest(creations, 'ephemeral_1h_input_tokens') + largest(writes, 'ttl_12h_tokens')
  const split = writtenLong + largest(creations, 'ephemeral_5m_input_tokens') + largest(writes, 'ttl_30m_tokens')
  return {
    read: Math.max(
      largest(everywhere, 'cached_tokens'),
      largest([usage], 'prompt_cache_hit_tokens'),
      largest([usage], 'cache_read_input_tokens'),
    ),
    written: Math.max(
      largest(details, 'cache_write_tokens'),
      largest(everywhere, 'cache_creation_input_tokens'),
      split,
    ),
    writtenLong,
    // Only upstreams with two kinds of cache have this name among the details, and only if the request asked for a cache.
    isExplicit: details.some(
      ({ cache_creation_input_tokens }) => summableCount(cache_creation_input_tokens) !== undefined,
    ),
  }
}

type Whole = {
  /** All input. */
  readonly input: number
  /** All output, reasoning included. */
  readonly output: number
}

type Stated = {
  readonly prompt: number
  readonly completion: number
  readonly total: number | undefined
  readonly cache: Cache
}

/**
 * What the stated counts include. The total decides where it can: most upstreams count the cached input inside the prompt and
 * the reasoning inside the completion, some do not. Without a total, a usage in the form of messages counts the cached input
 * outside.
 */
function formOf(usage: JsonObject, { prompt, completion, total, cache }: Stated): Whole {
  const reasoning = largest(
    [usage.completion_tokens_details, usage.output_tokens_details].filter(isJsonObject),
    'reasoning_tokens',
  )
  const outside = prompt + cache.read + cache.written
  const forms: readonly Whole[] = [
    { input: prompt, output: completion },
    { input: prompt, output: completion + reasoning },
    { input: outside, output: completion },
    { input: outside, output: completion + reasoning },
  ]
  const fitting = forms.find(({ input, output }) => input + output === total)
  return fitting ?? { input: isFormOfMessages(usage) ? outside : prompt, output: completion }
}

/** Anthropic's names without the names of the other forms. */
function isFormOfMessages(usage: JsonObject): boolean {
  const { prompt_tokens, input_tokens_details, cache_read_input_tokens, cache_creation_input_tokens } = usage
  return (
    !summableCount(prompt_tokens) &&
    !isJsonObject(input_tokens_details) &&
    (summableCount(cache_read_input_tokens) !== undefined ||
      summableCount(cache_creation_input_tokens) !== undefined ||
      isJsonObject(usage.cache_creation))
  )
}

function disjoint({ input, output, cache }: Whole & { readonly cache: Cache }): TokenCounts {
  const read = Math.min(cache.read, input)
  const written = Math.min(cache.written, input - read)
  const writtenLong = Math.min(cache.writtenLong, written)
  const isCut = read < cache.read || written < cache.written || writtenLong < cache.writtenLong
  return tokenCounts({
    input: input - read - written,
    [cache.isExplicit ? 'cachedInputExplicit' : 'cachedInput']: read,
    cacheWrite: written - writtenLong,
    cacheWrite1h: writtenLong,
    output,
    ...(isCut ? { isCorrected: true } : {}),
  })
}

/** The largest count of this name; 0 for none. */
function largest(objects: readonly JsonObject[], name: string): number {
  return Math.max(0, ...objects.map((object) => summableCount(object[name]) ?? 0))
}

/** Upstreams with two names for one count leave zero in the name that they do not use. */
function firstAboveZero(...values: readonly unknown[]): number | undefined {
  const counts = values.map(summableCount).filter((count) => count !== undefined)
  return counts.find((count) => count > 0) ?? counts[0]
}

function difference(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined || part > total ? undefined : total - part
}

/**
 * Upper bounds of the usage of a model, regardless of what its upstream reports. They are the limits of the model, not of the
 * request: a client that asks for less may be billed more than was reserved if its upstream ignores the limit or counts
 * reasoning on top.
 */
export type TokenUsageMax = { readonly input: number; readonly output: number }

/**
 * Reduces a reported usage to the bound. Where the input exceeds the bound, cached tokens are kept and fresh tokens
 * are cut. Returns the same object if nothing exceeds the bound.
 */
export function boundTokenCounts(counts: TokenCounts, most: TokenUsageMax): TokenCounts {
  let room = most.input
  const take = (tokens: number): number => {
    const taken = Math.min(tokens, room)
    room -= taken
    return taken
  }
  const bounded = tokenCounts({
    cachedInputExplicit: take(counts.cachedInputExplicit),
    cachedInput: take(counts.cachedInput),
    cacheWrite: take(counts.cacheWrite),
    cacheWrite1h: take(counts.cacheWrite1h),
    input: take(counts.input),
    output: Math.min(counts.output, most.output),
  })
  const isWithin =
    bounded.output === counts.output &&
    bounded.input === counts.input &&
    bounded.cacheWrite1h === counts.cacheWrite1h &&
    bounded.cacheWrite === counts.cacheWrite &&
    bounded.cachedInput === counts.cachedInput &&
    bounded.cachedInputExplicit === counts.cachedInputExplicit
  return isWithin ? counts : bounded
}

/** Reduces what one call reported to the bound. */
export function checkTokenCounts(counts: TokenCounts, most: TokenUsageMax): CheckedUsage<TokenCounts> {
  const usage = boundTokenCounts(counts, most)
  if (usage === counts && counts.isCorrected !== true) {
    return { usage, doubts: NO_DOUBTS }
  }
  const reported = { promptTokens: inputTokensOf(counts), completionTokens: counts.output }
  const doubts = [
    ...(usage === counts ? [] : [{ kind: 'above_bound', reported } as const]),
    ...(counts.isCorrected === true ? [{ kind: 'contradictory', reported } as const] : []),
  ]
  return { usage, doubts }
}

const NO_DOUBTS = [] as const

/** A rough average of common tokenizers. */
const BYTES_PER_TOKEN = 4

/** Estimates the tokens of a text by its length, rounded up. */
export function tokensByLength(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}
