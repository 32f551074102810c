import { hashText } from './openai-hash.ts'

/** Most quoted characters. */
const QUOTED_CHARACTERS_MAX = 60

const REPLIES: readonly ((quote: string) => string)[] = [
  (quote) => `You said ${quote}. I am only a simulated model, but I liked it.`,
  (quote) => `Ah, ${quote}! A real model would say something clever now.`,
  (quote) => `Thank you for ${quote}. I turned it over twice in my simulated mind, and I agree.`,
  (quote) => `${quote}: well said. I make no electricity bill, so ask me again as often as you like.`,
]

const LONG_REPLY = 'the quick brown fox jumps over the lazy dog and the dog does not mind at all'.split(' ')

/** The last message of the user. */
export type Said = {
  readonly prose: string
  readonly images: number
  /** Index of the completion; each has different words. */
  readonly choice: number
}

/** A friendly, deterministic sentence about the message. */
export function replyTo({ prose, images, choice }: Said): string {
  if (prose === '' && images === 0) {
    return 'You sent nothing but magic. I am impressed.'
  }
  const reply = REPLIES[(hashText(prose) + choice) % REPLIES.length]
  const words = prose === '' ? 'nothing at all' : quoteOf(prose)
  const picture = images === 0 ? '' : images === 1 ? ' Lovely picture, by the way.' : ' Lovely pictures, by the way.'
  return `${reply?.(words)}${picture}`
}

/** The sentence after a tool result. */
export function replyToTool(result: string): string {
  return `The tool says ${quoteOf(result)}. I could not have found that out alone.`
}

/** N words, for `[long:N]`. */
export function longReply(words: number): string {
  return Array.from({ length: words }, (_, index) => LONG_REPLY[index % LONG_REPLY.length]).join(' ')
}

/** Quotes a string, cut to sixty characters but never inside a character. */
function quoteOf(text: string): string {
  // A character has at most two code units.
  const characters = [...text.slice(0, QUOTED_CHARACTERS_MAX * 2 + 2)]
  return characters.length <= QUOTED_CHARACTERS_MAX
    ? `“${text}”`
    : `“${characters
        .slice(0, QUOTED_CHARACTERS_MAX - 1)
        .join('')
        .trimEnd()}…”`
}
