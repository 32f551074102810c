/**
 * A simulated token: an ideograph, up to eight letters or digits, or up to four signs, with the preceding space. Counts are
 * deterministic and close to those of real tokenizers.
 */
const TOKEN =
  /\s*(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|[\p{L}\p{M}\p{N}]{1,8}|[^\s\p{L}\p{M}\p{N}]{1,4})|\s+/gu

/** A word, the content of one streamed event. */
const WORD = /\s*\S+|\s+/g

/** Only `[huge:MB]` makes longer strings, whose exact count would take seconds. */
const COUNTED_CHARACTERS_MAX = 8 * 1024 * 1024
const CHARACTERS_PER_TOKEN = 8

/** Counts the simulated tokens of a string. */
export function countTokens(text: string): number {
  if (text.length > COUNTED_CHARACTERS_MAX) {
    return Math.ceil(text.length / CHARACTERS_PER_TOKEN)
  }
  return text.match(TOKEN)?.length ?? 0
}

/** Words with their preceding spaces. Their concatenation is the string, and their tokens add up. */
export function splitWords(text: string): readonly string[] {
  return text.match(WORD) ?? []
}

/** A possibly shortened string and its finish reason. */
export type LimitedText = { readonly text: string; readonly finishReason: 'stop' | 'length' }

/** Cuts a string at the first stop sequence or at the token limit, whichever comes first. */
export function limitText(
  text: string,
  { stops, tokensMax }: { readonly stops: readonly string[]; readonly tokensMax: number },
): LimitedText {
  const found = stops.filter(Boolean).map((stop) => text.indexOf(stop))
  const stopped = text.slice(0, Math.min(text.length, ...found.filter((index) => index >= 0)))
  const limited = cutToTokens(stopped, tokensMax)
  return { text: limited, finishReason: limited.length < stopped.length ? 'length' : 'stop' }
}

function cutToTokens(text: string, tokensMax: number): string {
  let count = 0
  for (const match of text.matchAll(TOKEN)) {
    if (count === tokensMax) {
      return text.slice(0, match.index)
    }
    count += 1
  }
  return text
}
