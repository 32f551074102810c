/** Magic words without an argument. */
const FLAGS = [
  'error-mid',
  'bad-json',
  'html',
  'no-usage',
  'no-done',
  'usage-every',
  'usage-finish',
  'usage-details',
  'crlf',
  'comments',
  'multi-data',
  'no-space',
  'slices',
  'ignore-encoding',
  'disordered',
  'fewer',
  'filtered',
] as const

/** A magic word without an argument. */
export type OpenAiFlag = (typeof FLAGS)[number]

/** Magic words with an argument, or with a meaning of their own. */
const COMMANDS = [
  'error',
  'error-once',
  'retry-after',
  'slow',
  'gap',
  'silent',
  'hang',
  'reset',
  'cut',
  'policy',
  'long',
  'huge',
  'odd-usage',
] as const

/** `[error:STATUS]` or `[error:STATUS:KIND]`; `isOnce` for `[error-once:...]`. */
type MagicError = { readonly status: number; readonly kind: string | undefined; readonly isOnce: boolean }

/** The behaviour that a prompt requests. Absent fields mean the default. */
export type OpenAiMagic = {
  /** The string without its magic words, which a response may quote. */
  readonly prose: string
  readonly flags: ReadonlySet<OpenAiFlag>
  readonly error?: MagicError
  /** `[retry-after:VALUE]`: the header of a refusal, as written. */
  readonly retryAfter?: string
  /** `[hang]` never responds, `[reset]` resets the connection before any byte. */
  readonly silence?: 'hang' | 'reset'
  /** `[slow:SECONDS]`: before the first byte. */
  readonly delayMilliseconds: number
  /** `[gap:MILLISECONDS]`: between the events of a stream. */
  readonly gapMilliseconds?: number
  /** `[silent:SECONDS]`: in the middle of the response. */
  readonly pauseMilliseconds: number
  /** `[cut:N]`: the connection breaks after N events. */
  readonly cutAfter?: number
  /** `[policy]`, `[policy:nested]`. */
  readonly policy?: 'plain' | 'nested'
  /** `[long:N]`: words of the response. */
  readonly words?: number
  /** `[huge:MB]`: least bytes of the response. */
  readonly bytesMin: number
  /** `[odd-usage:N]`: a JSON number, written into the response unchanged. */
  readonly oddUsage?: string
}

/** Events before `[cut]`, `[silent]`, `[error-mid]` and `[bad-json]` take effect. */
export const MIDDLE_OF_STREAM = 3

/** Bounds the time of a socket, so that a typing error does not hold one for a day. */
const WAIT_SECONDS_MAX = 300

/** About a megabyte, twelve times the output limit of the model. */
const WORDS_MAX = 200_000

/** Below the longest string of the engine, half a gigabyte. */
const HUGE_MEGABYTES_MAX = 256

const WORD = /\[([a-z][a-z-]*)((?::[A-Za-z0-9.+-]+)*)\]/g
const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/** Reads every `[word]` and `[word:argument]`. Unknown ones are prose; the first of each kind counts. */
export function parseOpenAiMagic(text: string): OpenAiMagic {
  const words = new Map<string, readonly string[]>()
  const known: ReadonlySet<string> = new Set([...FLAGS, ...COMMANDS])
  const prose = text.replace(WORD, (whole, name: string, rest: string) => {
    if (!known.has(name)) {
      return whole
    }
    words.set(name, words.get(name) ?? rest.split(':').slice(1))
    return ''
  })
  const error = errorOf(words)
  const retryAfter = words.get('retry-after')?.[0]
  const gap = numberOf(words, 'gap')
  const silence = (['reset', 'hang'] as const).find((name) => words.has(name))
  const policy = words.get('policy')
  const longWords = numberOf(words, 'long')
  const oddUsage = words.get('odd-usage')?.[0]
  return {
    prose: prose.replace(/\s+/g, ' ').trim(),
    flags: new Set(FLAGS.filter((flag) => words.has(flag))),
    delayMilliseconds: millisecondsOf(words, 'slow'),
    pauseMilliseconds: millisecondsOf(words, 'silent'),
    bytesMin: Math.min(numberOf(words, 'huge') ?? 0, HUGE_MEGABYTES_MAX) * 1024 * 1024,
    ...(error !== undefined && { error }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(silence !== undefined && { silence }),
    ...(gap !== undefined && { gapMilliseconds: Math.min(gap, WAIT_SECONDS_MAX * 1000) }),
    ...(words.has('cut') && { cutAfter: numberOf(words, 'cut') ?? MIDDLE_OF_STREAM }),
    ...(policy !== undefined && { policy: policy[0] === 'nested' ? ('nested' as const) : ('plain' as const) }),
    ...(longWords !== undefined && { words: Math.min(Math.floor(longWords), WORDS_MAX) }),
    ...(oddUsage !== undefined && JSON_NUMBER.test(oddUsage) && { oddUsage }),
  }
}

type Words = ReadonlyMap<string, readonly string[]>

function errorOf(words: Words): MagicError | undefined {
  const name = (['error', 'error-once'] as const).find((candidate) => words.has(candidate))
  const [status = '', kind] = (name && words.get(name)) ?? []
  return /^[45]\d\d$/.test(status) ? { status: Number(status), kind, isOnce: name === 'error-once' } : undefined
}

function numberOf(words: Words, name: string): number | undefined {
  const text = words.get(name)?.[0]
  return text !== undefined && /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
}

function millisecondsOf(words: Words, name: string): number {
  return Math.min(numberOf(words, name) ?? 0, WAIT_SECONDS_MAX) * 1000
}
