/** The response shapes of third-party proxies; see README.md of the simulators. */
export type ProxyShape = 'task' | 'unified' | 'wrapped' | 'creator' | 'raw'

/** `usual`: documented status words. `rare`: words that other clients have met and a gateway must tolerate. */
export type StatusWords = 'usual' | 'rare'

/** Behaviour of a whole simulator. Prompts control single tasks (magic-prompt.ts). */
export type Behaviour = {
  /** Seconds of every task in the queue. */
  readonly queueSeconds: number
  /** Seconds of every generation. */
  readonly runSeconds: number
  /** Polls and lists per second from all callers together; more get a 429. */
  readonly pollsPerSecond: number
  /** Most tasks that run at the same time; others wait. */
  readonly runningTasksMax: number
  /** Seconds after the end of a task until its result url returns 403. */
  readonly resultTtlSeconds: number
  /** Leaves `usage` out of every success. */
  readonly dropUsage: boolean
  /** Writes the numbers of `usage` with a decimal point (`5.0`). */
  readonly floatUsage: boolean
  /** Leaves the aspect ratio out of every success. */
  readonly omitRatio: boolean
  /** Adds `"error": null` to every success of P2. */
  readonly nullError: boolean
  /** The proxy's response shape. */
  readonly shape: ProxyShape
  readonly statusWords: StatusWords
}

/** P1's documented limit of polls per second and account. */
export const P1_POLLS_PER_SECOND = 20

/** Both kinds of presigned result urls are valid for a day. */
const RESULT_TTL_SECONDS = 24 * 60 * 60

/** Short enough for a demonstration, and long enough to show every state. */
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

/** Common options of the simulators. */
export type SimulatorOptions = {
  /** 0, the default, takes a free port. */
  readonly port?: number
  /** 127.0.0.1 by default. */
  readonly host?: string
  /** The only accepted bearer token. By default, any non-empty token. */
  readonly apiKey?: string
  readonly behaviour?: Partial<Behaviour>
  /** Milliseconds since 1970; the system clock by default. All states follow from the clock, so tests can advance it. */
  readonly now?: () => number
  /** A file that keeps tasks across restarts. By default, tasks end with the process. */
  readonly stateFile?: string
}
