/** Magic words of a prompt, and its prose. */
export type OpenAiMagic = {
  /** The string without its magic words, which a response may quote. */
  readonly prose: string
  /** Whether it has no magic word. */
  readonly isPlain: boolean
  readonly has: (word: MagicWord) => boolean
  /** An argument of `[word:ARGUMENT:ARGUMENT]`. */
  readonly text: (word: MagicWord, index?: number) => string | undefined
  /** The argument of `[word:NUMBER]`, at most `max`; undefined without one. */
  readonly number: (word: MagicWord, max: number) => number | undefined
}

/** The arguments of a word: none, or the forms that errors name and the pattern that they match. */
type Arguments = { readonly forms: readonly string[]; readonly pattern: RegExp }

const plain: Arguments = { forms: [''], pattern: /^$/ }
const taking = (...forms: readonly string[]) => ({ forms, pattern: /^:\d+(\.\d+)?$/ })
const counting = (...forms: readonly string[]) => ({ forms, pattern: /^:\d+$/ })
const failing = { forms: [':STATUS', ':429:quota', ':400:context'], pattern: /^:[45]\d\d(:(quota|context))?$/ }

const MAGIC_WORDS = {
  error: failing,
  'error-once': { ...failing, forms: [':STATUS'] },
  'retry-after': { forms: [':VALUE'], pattern: /^:./ },
  policy: { forms: ['', ':nested'], pattern: /^(:nested)?$/ },
  slow: taking(':SECONDS'),
  gap: taking(':MILLISECONDS'),
  silent: taking(':SECONDS'),
  hang: plain,
  reset: plain,
  cut: { forms: ['', ':N'], pattern: /^(:\d+)?$/ },
  long: counting(':N'),
  huge: taking(':MB'),
  'error-mid': plain,
  'bad-json': plain,
  html: plain,
  'no-done': plain,
  crlf: plain,
  comments: plain,
  'multi-data': plain,
  'no-space': plain,
  slices: plain,
  'no-usage': plain,
  'usage-every': plain,
  'usage-finish': plain,
  'usage-details': plain,
  'odd-usage': { forms: [':N'], pattern: /^:-?\d+(\.\d+)?([Ee][+-]?\d+)?$/ },
  fewer: plain,
  filtered: plain,
  'ignore-encoding': plain,
  disordered: plain,
  reasoning: plain,
  tools: counting(':N'),
  logprobs: plain,
} as const satisfies Readonly<Record<string, Arguments>>
type MagicWord = keyof typeof MAGIC_WORDS

/** Every word with its arguments, such as `error:STATUS`. STATUS is from 400 to 599. */
export const OPENAI_WORD_FORMS: readonly string[] = Object.entries(MAGIC_WORDS).flatMap(([word, { forms }]) =>
  forms.map((form) => word + form),
)

const isMagicWord = (name: string): name is MagicWord => Object.hasOwn(MAGIC_WORDS, name)

/** Reads every `[word]` and `[word:argument]`. Others are prose, also words with a wrong argument; the first of each kind counts. */
export function parseOpenAiMagic(prompt: string): OpenAiMagic {
  const words = new Map<string, readonly string[]>()
  const prose = prompt.replace(/\[([a-z][a-z-]*)((?::[A-Za-z0-9.+, -]+)*)\]/g, (whole, name: string, rest: string) => {
    if (!(isMagicWord(name) && MAGIC_WORDS[name].pattern.test(rest))) {
      return whole
    }
    // A date in a header has colons of its own.
    words.set(name, words.get(name) ?? (name === 'retry-after' ? [rest.slice(1)] : rest.split(':').slice(1)))
    return ''
  })
  const text: OpenAiMagic['text'] = (word, index = 0) => words.get(word)?.[index]
  return {
    prose: prose.replace(/\s+/g, ' ').trim(),
    isPlain: words.size === 0,
    has: (word) => words.has(word),
    text,
    number: (word, max) => (text(word) === undefined ? undefined : Math.min(Number(text(word)), max)),
  }
}
