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

/** A refusal that a prompt can request. */
export type SubmitRefusal = (typeof SUBMIT_REFUSALS)[number]
/** A failure of an accepted task. */
export type TaskFailure = (typeof FAILURES)[number]

/** Bounds the delay of a submit, so that a typing error does not hold a socket for a day. */
const SUBMIT_DELAY_SECONDS_MAX = 300

/** The behaviour that a prompt requests. Undefined fields mean the default. */
export type MagicPrompt = ReturnType<typeof parseMagicPrompt>

/** Reads every `[command]` of a prompt. Unknown ones are prose; the first entry of each table above wins. */
export function parseMagicPrompt(prompt: string) {
  const commands = [...prompt.matchAll(/\[([a-z][a-z-]*(?::[a-z0-9.-]+)?)\]/g)].map((match) => match[1] ?? '')
  const firstOf = <Name extends string>(names: readonly Name[]) => names.find((name) => commands.includes(name))
  /** The argument of `[name:ARGUMENT]`, if it has the form. */
  const argumentOf = (name: string, form: RegExp) => {
    const text = commands.find((command) => command.startsWith(`${name}:`))?.slice(name.length + 1)
    return text !== undefined && form.test(text) ? text : undefined
  }
  const numberOf = (name: string, form = /^\d+(\.\d+)?$/) => {
    const text = argumentOf(name, form)
    return text === undefined ? undefined : Number(text)
  }
  return {
    refusal: firstOf(SUBMIT_REFUSALS),
    /** `[error:STATUS]`: the HTTP status of the submit response, 4xx or 5xx. */
    submitErrorStatus: numberOf('error', /^[45]\d\d$/),
    /** `[hang]` never responds to the submit, `[reset]` resets its connection after reading the body. */
    submitSilence: firstOf(['hang', 'reset'] as const),
    /** `[late:SECONDS]`: delays the response to an accepted submit, in real seconds. */
    submitDelaySeconds: Math.min(numberOf('late') ?? 0, SUBMIT_DELAY_SECONDS_MAX),
    failure: firstOf(FAILURES),
    /** `[queue:SECONDS]`: the wait before the task runs. */
    queueSeconds: numberOf('queue'),
    /** `[slow:SECONDS]`, or Infinity for `[forever]`. */
    runSeconds: commands.includes('forever') ? Number.POSITIVE_INFINITY : numberOf('slow'),
    pollTrick: firstOf(POLL_TRICKS),
    resultTrick: firstOf(RESULT_TRICKS),
    /** Null for `[no-usage]`; the literal N for `[usage:N]`, a JSON number that is written unchanged. */
    usage: commands.includes('no-usage') ? null : argumentOf('usage', /^-?(0|[1-9]\d*)(\.\d+)?$/),
    /** `[minimal]`: the proxy's shortest success. */
    isMinimal: commands.includes('minimal'),
  }
}
