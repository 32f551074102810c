import { isJsonObject, type JsonObject } from '../json/json-object.ts'
import { isNothing, type TokenCounts, tokenCounts } from './token-counts.ts'

/** Sums of a few counts of this size are exact. No model comes near. */
const COUNT_MAX = 2 ** 48

/**
 * Reads the `usage` of a chat upstream, in any form of the interfaces for chats, responses and messages, as parts that never
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

/** Drops a usage of zero for a reply with generated text, which cannot be free. */
export function believedUsage(usage: TokenCounts | undefined, isGenerated: boolean): TokenCounts | undefined {
  return isGenerated && usage !== undefined && isNothing(usage) ? undefined : usage
}

/** Reads a number of tokens; undefined for anything else. Callers bound the number before billing (`usage-bounds.ts`). */
export function tokenCount(value: unknown): number | undefined {
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
