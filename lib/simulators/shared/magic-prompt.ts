/** The refusals that prompts can request. Each simulator has its own wording. */
export type SubmitRefusal =
  | 'refuse'
  | 'refuse:moderated'
  | 'refuse:download'
  | 'refuse:person'
  | 'unauthorized'
  | 'arrears'
  | 'not-open'
  | 'no-model'
  | 'busy'
  | 'busy:always'
  | 'busy:quota'
  | 'busy:overloaded'

const SUBMIT_REFUSALS: readonly SubmitRefusal[] = [
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
]

/** How an accepted task ends. */
export type TaskEnding = 'succeed' | 'fail' | 'fail:input' | 'moderated' | 'moderated:audio'
const TASK_ENDINGS: readonly TaskEnding[] = ['fail', 'fail:input', 'moderated', 'moderated:audio']

/** Poll responses instead of, or before, the real state. */
type PollTrick = 'unknown' | 'odd-status' | 'poll-errors'
const POLL_TRICKS: readonly PollTrick[] = ['unknown', 'odd-status', 'poll-errors']

/** The content of the result url, or its absence. */
export type ResultTrick = 'no-url' | 'not-video' | 'empty' | 'cut' | 'cut:once' | 'redirect' | 'redirect:private'
const RESULT_TRICKS: readonly ResultTrick[] = [
  'no-url',
  'not-video',
  'empty',
  'cut',
  'cut:once',
  'redirect',
  'redirect:private',
]

/** The behaviour that a prompt requests. Absent fields mean the default. */
export type MagicPrompt = {
  readonly refusal?: SubmitRefusal
  /** `[error:STATUS]`: the HTTP status of the submit response. */
  readonly submitErrorStatus?: number
  /** `[hang]` never responds to the submit, `[reset]` resets its connection after reading the body. */
  readonly submitSilence?: 'hang' | 'reset'
  /** `[late:SECONDS]`: delays the response to an accepted submit, in real seconds. */
  readonly submitDelaySeconds?: number
  readonly ending: TaskEnding
  /** `[queue:SECONDS]`: the wait before the task runs. */
  readonly queueSeconds?: number
  /** `[slow:SECONDS]`, or Infinity for `[forever]`. */
  readonly runSeconds?: number
  readonly pollTrick?: PollTrick
  readonly resultTrick?: ResultTrick
  /** Null for `[no-usage]`; the literal N for `[usage:N]`. */
  readonly usage?: string | null
  /** `[minimal]`: the proxy's shortest success. */
  readonly isMinimal: boolean
}

/** `[error:STATUS]` with a status other than 4xx or 5xx is ignored. */
const ERROR_STATUS = /^[45]\d\d$/

/** Bounds the delay of a submit, so that a typing error does not hold a socket for a day. */
const SUBMIT_DELAY_SECONDS_MAX = 300

/** Reads every `[command]` of a prompt. Unknown ones are prose; the first entry of each table above wins. */
export function parseMagicPrompt(prompt: string): MagicPrompt {
  const commands = [...prompt.matchAll(/\[([a-z][a-z-]*(?::[a-z0-9.-]+)?)\]/g)].map((match) => match[1] ?? '')
  const argumentOf = (name: string) =>
    commands.find((command) => command.startsWith(`${name}:`))?.slice(name.length + 1)
  const firstOf = <Name extends string>(names: readonly Name[]) => names.find((name) => commands.includes(name))
  const refusal = firstOf(SUBMIT_REFUSALS)
  const silence = firstOf(['hang', 'reset'] as const)
  const pollTrick = firstOf(POLL_TRICKS)
  const resultTrick = firstOf(RESULT_TRICKS)
  const errorStatus = argumentOf('error')
  const delaySeconds = secondsOf(argumentOf('late'))
  const queueSeconds = secondsOf(argumentOf('queue'))
  const runSeconds = commands.includes('forever') ? Number.POSITIVE_INFINITY : secondsOf(argumentOf('slow'))
  const usage = commands.includes('no-usage') ? null : usageOf(argumentOf('usage'))
  return {
    ending: firstOf(TASK_ENDINGS) ?? 'succeed',
    isMinimal: commands.includes('minimal'),
    ...(refusal !== undefined && { refusal }),
    ...(silence !== undefined && { submitSilence: silence }),
    ...(pollTrick !== undefined && { pollTrick }),
    ...(resultTrick !== undefined && { resultTrick }),
    ...(errorStatus !== undefined && ERROR_STATUS.test(errorStatus) && { submitErrorStatus: Number(errorStatus) }),
    ...(delaySeconds !== undefined && { submitDelaySeconds: Math.min(delaySeconds, SUBMIT_DELAY_SECONDS_MAX) }),
    ...(queueSeconds !== undefined && { queueSeconds }),
    ...(runSeconds !== undefined && { runSeconds }),
    ...(usage !== undefined && { usage }),
  }
}

function secondsOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
}

/** JSON numbers only, because the number is written into the response unchanged. */
function usageOf(text: string | undefined): string | undefined {
  return text !== undefined && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) ? text : undefined
}
