/**
 * A simulated token: an ideograph, or up to eight letters or digits, or up to four signs, with the space before it.
 * No real tokenizer, but of its size, and the same text always counts the same.
 */
const TOKEN =
  /\s*(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|[\p{L}\p{M}\p{N}]{1,8}|[^\s\p{L}\p{M}\p{N}]{1,4})|\s+/gu

/** What a stream sends in one event. */
const WORD = /\s*\S+|\s+/g

/** Longer texts are made by `[huge:MB]` alone; to count them one by one would take seconds. */
const COUNTED_CHARACTERS_MAX = 8 * 1024 * 1024
const CHARACTERS_PER_TOKEN = 8

/** How many simulated tokens a text has. */
export function countTokens(text: string): number {
  if (text.length > COUNTED_CHARACTERS_MAX) {
    return Math.ceil(text.length / CHARACTERS_PER_TOKEN)
  }
  return text.match(TOKEN)?.length ?? 0
}

/** Words with the space before them. Joined they are the text, and their tokens sum to the text's. */
export function splitWords(text: string): readonly string[] {
  return text.match(WORD) ?? []
}

/** A text that may have been shortened, and why it ends where it does. */
export type LimitedText = { readonly text: string; readonly finishReason: 'stop' | 'length' }

/** Ends a text before the first stop sequence, or after so many tokens, whichever comes first. */
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
