/** The response shapes that a third-party proxy may speak; see README.md beside this file. */
export type ProxyShape = 'task' | 'unified' | 'wrapped' | 'creator' | 'raw'

/** `usual`: the words of the documents. `rare`: words that other clients have met and a gateway must survive. */
export type StatusWords = 'usual' | 'rare'

/** What a whole simulator does; a single task is steered by its prompt instead (magic-prompt.ts). */
export type Behaviour = {
  /** Seconds that every task waits before it runs. */
  readonly queueSeconds: number
  /** Seconds that every task runs. */
  readonly runSeconds: number
  /** Polls and lists that are answered per second, all callers together; above it 429. */
  readonly pollsPerSecond: number
  /** Tasks that run at the same time; the others wait. */
  readonly runningTasksMax: number
  /** Seconds after the end of a task in which its result url works; then 403. */
  readonly resultTtlSeconds: number
  /** Leaves `usage` out of every success. */
  readonly dropUsage: boolean
  /** Writes the numbers of `usage` with a decimal point (`5.0`). */
  readonly floatUsage: boolean
  /** Leaves the aspect ratio out of every success. */
  readonly omitRatio: boolean
  /** Adds `"error": null` to every success of P2. */
  readonly nullError: boolean
  /** The proxy's answer shape. */
  readonly shape: ProxyShape
  readonly statusWords: StatusWords
}

/** Polls per second that P1 grants an account, from its documents. */
export const P1_POLLS_PER_SECOND = 20

/** Both kinds of presigned result url live a day. */
const RESULT_TTL_SECONDS = 24 * 60 * 60

/** Short enough for a demonstration, long enough to see every state. */
export const DEFAULT_BEHAVIOUR: Behaviour = {
  queueSeconds: 1,
  runSeconds: 3,
  pollsPerSecond: Number.POSITIVE_INFINITY,
  runningTasksMax: Number.POSITIVE_INFINITY,
  resultTtlSeconds: RESULT_TTL_SECONDS,
  dropUsage: false,
  floatUsage: false,
  omitRatio: false,
  nullError: false,
  shape: 'task',
  statusWords: 'usual',
}

/** How any of the simulators is started. */
export type SimulatorOptions = {
  /** 0, the default, takes a free port. */
  readonly port?: number
  /** 127.0.0.1 by default. */
  readonly host?: string
  /** When set, the one bearer token that is accepted; else any that is not empty. */
  readonly apiKey?: string
  readonly behaviour?: Partial<Behaviour>
  /** Milliseconds since 1970; the system clock by default. Every state is computed from it, so tests may jump. */
  readonly now?: () => number
  /** A file in which tasks outlive a restart; without it they are gone with the process. */
  readonly stateFile?: string
}
