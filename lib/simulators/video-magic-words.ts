/** Refusals of a submit. Each provider has its own wording. */
const SUBMIT_REFUSALS = [
  'refuse',
  'refuse:moderated',
  'refuse:download',
  'refuse:person',
  'unauthorized',
  'arrears',
  'not-open',
  'no-model',
  'busy',
  'busy:always',
  'busy:quota',
  'busy:overloaded',
] as const
/** Poll responses instead of, or before, the real state. */
const POLL_TRICKS = ['unknown', 'odd-status', 'poll-errors'] as const
/** Endings of an accepted task. */
const FAILURES = ['fail', 'fail:input', 'moderated', 'moderated:audio'] as const
/** The content of the result url, or its absence. */
const RESULT_TRICKS = ['no-url', 'not-video', 'empty', 'cut', 'cut:once', 'redirect', 'redirect:private'] as const

/** How the submit ends without a response. */
const SILENCES = ['hang', 'reset'] as const
const FLAGS = ['forever', 'no-usage', 'minimal'] as const
const SECONDS = { form: 'SECONDS', pattern: /^\d+(\.\d+)?$/ }
/** Words with an argument. */
const ARGUMENTS = {
  error: { form: 'STATUS', pattern: /^[45]\d\d$/ },
  late: SECONDS,
  queue: SECONDS,
  slow: SECONDS,
  usage: { form: 'N', pattern: /^-?(0|[1-9]\d*)(\.\d+)?$/ },
} as const

/** Every word with its argument, such as `error:STATUS`. STATUS is from 400 to 599. */
export const VIDEO_WORD_FORMS: readonly string[] = [
  ...[...SUBMIT_REFUSALS, ...SILENCES, ...POLL_TRICKS, ...FAILURES, ...RESULT_TRICKS, ...FLAGS],
  ...Object.entries(ARGUMENTS).map(([word, { form }]) => `${word}:${form}`),
]

/** A refusal that a prompt can request. */
export type SubmitRefusal = (typeof SUBMIT_REFUSALS)[number]
/** A failure of an accepted task. */
export type TaskFailure = (typeof FAILURES)[number]

/** Bounds the delay of a submit, so that a typing error does not hold a socket for a day. */
const SUBMIT_DELAY_SECONDS_MAX = 300

/** The behaviour that a prompt requests. Undefined fields mean the default. */
export type MagicPrompt = ReturnType<typeof parseMagicPrompt>

/** Whether a prompt has a magic word. Unknown words, and those with a wrong argument, are prose. */
export function hasMagicWord(prompt: string): boolean {
  return commandsOf(prompt).some((command) => {
    const [name = '', argument = ''] = command.split(':')
    const { pattern } = Object.entries(ARGUMENTS).find(([word]) => word === name)?.[1] ?? {}
    return pattern?.test(argument) ?? VIDEO_WORD_FORMS.includes(command)
  })
}

/** Reads every `[command]` of a prompt. Unknown ones are prose; the first entry of each table above wins. */
export function parseMagicPrompt(prompt: string) {
  const commands = commandsOf(prompt)
  const firstOf = <Name extends string>(names: readonly Name[]) => names.find((name) => commands.includes(name))
  const hasFlag = (flag: (typeof FLAGS)[number]) => commands.includes(flag)
  /** The argument of `[name:ARGUMENT]`, if it has the form. */
  const argumentOf = (name: keyof typeof ARGUMENTS) => {
    const text = commands.find((command) => command.startsWith(`${name}:`))?.slice(name.length + 1)
    return text !== undefined && ARGUMENTS[name].pattern.test(text) ? text : undefined
  }
  const numberOf = (name: keyof typeof ARGUMENTS) => {
    const text = argumentOf(name)
    return text === undefined ? undefined : Number(text)
  }
  return {
    refusal: firstOf(SUBMIT_REFUSALS),
    /** `[error:STATUS]`: the HTTP status of the submit response, 4xx or 5xx. */
    submitErrorStatus: numberOf('error'),
    /** `[hang]` never responds to the submit, `[reset]` resets its connection after reading the body. */
    submitSilence: firstOf(SILENCES),
    /** `[late:SECONDS]`: delays the response to an accepted submit, in real seconds. */
    submitDelaySeconds: Math.min(numberOf('late') ?? 0, SUBMIT_DELAY_SECONDS_MAX),
    failure: firstOf(FAILURES),
    /** `[queue:SECONDS]`: the wait before the task runs. */
    queueSeconds: numberOf('queue'),
    /** `[slow:SECONDS]`, or Infinity for `[forever]`. */
    runSeconds: hasFlag('forever') ? Number.POSITIVE_INFINITY : numberOf('slow'),
    pollTrick: firstOf(POLL_TRICKS),
    resultTrick: firstOf(RESULT_TRICKS),
    /** Null for `[no-usage]`; the literal N for `[usage:N]`, a JSON number that is written unchanged. */
    usage: hasFlag('no-usage') ? null : argumentOf('usage'),
    /** `[minimal]`: the proxy's shortest success. */
    isMinimal: hasFlag('minimal'),
  }
}

function commandsOf(prompt: string): readonly string[] {
  return [...prompt.matchAll(/\[([a-z][a-z-]*(?::[a-z0-9.-]+)?)\]/g)].map((match) => match[1] ?? '')
}
