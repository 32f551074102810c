import type { OpenAiMagic } from './openai-magic-words.ts'

/**
 * A simulated token: an ideograph, up to eight letters or digits, or up to four signs, with the preceding space. Counts are
 * deterministic and close to those of real tokenizers.
 */
const TOKEN =
  /\s*(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|[\p{L}\p{M}\p{N}]{1,8}|[^\s\p{L}\p{M}\p{N}]{1,4})|\s+/gu

/** Only `[huge:MB]` makes longer strings, whose exact count would take seconds. */
const COUNTED_CHARACTERS_MAX = 8 * 1024 * 1024
const CHARACTERS_PER_TOKEN = 8

/** Counts the simulated tokens of a string. */
export function countTokens(text: string): number {
  return text.length > COUNTED_CHARACTERS_MAX
    ? Math.ceil(text.length / CHARACTERS_PER_TOKEN)
    : (text.match(TOKEN)?.length ?? 0)
}

/** Words with their preceding spaces. Their concatenation is the string, and their tokens add up. */
export function splitWords(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+/g) ?? []
}

/** Cuts a string at the first stop sequence or at the token limit, whichever comes first. */
export function limitText(text: string, stop: string | readonly string[] | null | undefined, tokensMax: number) {
  const ends = [stop ?? []].flat().flatMap((one) => (one !== '' && text.includes(one) ? [text.indexOf(one)] : []))
  const stopped = text.slice(0, Math.min(text.length, ...ends))
  const firstTooMany = [...stopped.matchAll(TOKEN)][tokensMax]?.index
  return { text: stopped.slice(0, firstTooMany), finishReason: firstTooMany === undefined ? 'stop' : 'length' } as const
}

const REPLIES: readonly ((quote: string) => string)[] = [
  (quote) => `You said ${quote}. I am only a simulated model, but I liked it.`,
  (quote) => `Ah, ${quote}! A real model would say something clever now.`,
  (quote) => `Thank you for ${quote}. I turned it over twice in my simulated mind, and I agree.`,
  (quote) => `${quote}: well said. I make no electricity bill, so ask me again as often as you like.`,
]

/** A friendly sentence about the last message of the user, the same for the same words. Each choice has other words. */
export function replyTo(prose: string, images: number, choice: number): string {
  if (prose === '' && images === 0) {
    return 'You sent nothing but magic. I am impressed.'
  }
  const reply = REPLIES[(prose.length + choice) % REPLIES.length]
  const picture = images === 0 ? '' : images === 1 ? ' Lovely picture, by the way.' : ' Lovely pictures, by the way.'
  return `${reply?.(prose === '' ? 'nothing at all' : quoteOf(prose))}${picture}`
}

/** Quotes a string, cut to sixty characters but never inside a character. */
export function quoteOf(text: string): string {
  const quotedCharactersMax = 60
  // A character has at most two code units.
  const characters = [...text.slice(0, quotedCharactersMax * 2 + 2)]
  const start = characters
    .slice(0, quotedCharactersMax - 1)
    .join('')
    .trimEnd()
  return characters.length <= quotedCharactersMax ? `“${text}”` : `“${start}…”`
}

const LONG_REPLY = 'the quick brown fox jumps over the lazy dog and the dog does not mind at all'.split(' ')
/** About a megabyte, twelve times the output limit of the model. */
const WORDS_MAX = 200_000

/** The words for `[long:N]`; undefined without it. */
export function longReply(magic: OpenAiMagic): string | undefined {
  const words = magic.number('long', WORDS_MAX)
  return words === undefined
    ? undefined
    : Array.from({ length: words }, (_, index) => LONG_REPLY[index % LONG_REPLY.length]).join(' ')
}

/** Bounds recursive schemas. */
const SCHEMA_DEPTH_MAX = 8

/** A value that a JSON schema allows, with the strings of the message. Covers what tools usually ask for. */
export function sampleValue(root: unknown, said: string, schema: unknown = root, depth = 0): unknown {
  const { $ref, anyOf, allOf, properties, items, ...own } = Object(schema)
  const inner = (part: unknown) => sampleValue(root, said, part, depth + 1)
  const given = [own.const, own.enum?.[0], own.default, own.examples?.[0]].find((one) => one !== undefined)
  if (depth > SCHEMA_DEPTH_MAX || given !== undefined) {
    return given ?? null
  }
  if (typeof $ref === 'string') {
    const names = $ref.split('/').slice(1)
    return inner(names.reduce<unknown>((value, name) => Object(value)[name], root))
  }
  if (Array.isArray(anyOf ?? own.oneOf)) {
    return inner((anyOf ?? own.oneOf)[0])
  }
  if (Array.isArray(allOf)) {
    return Object.assign({}, ...allOf.map(inner))
  }
  const types = [own.type ?? []].flat()
  switch (types.find((type) => type !== 'null') ?? types[0] ?? (properties === undefined ? 'string' : 'object')) {
    case 'null':
      return null
    case 'object':
      return Object.fromEntries(Object.entries(Object(properties)).map(([name, part]) => [name, inner(part)]))
    case 'array':
      return Array.from({ length: Math.max(own.minItems ?? 1, 1) }, () => inner(items))
    case 'integer':
    case 'number':
      return Math.ceil(own.minimum ?? (own.exclusiveMinimum ?? 0) + 1)
    case 'boolean':
      return true
    default:
      return subjectOf(said).slice(0, own.maxLength)
  }
}

/** A name in the message (`What is the weather in Oslo?`), else the beginning of the message. */
function subjectOf(said: string): string {
  const name = /\S\s+(\p{Lu}[\p{L}\p{M}-]+(?:\s\p{Lu}[\p{L}\p{M}-]+)*)/u.exec(said)?.[1]
  return name ?? [...said.slice(0, 120)].slice(0, 60).join('')
}
