/** What a deployment's figures depend on and this repository cannot measure; each is an option of `npm run capacity`. */
export type Assumptions = {
  /** How often a client asks for its job while it is open. Seconds. */
  readonly clientPollSeconds: number
  /** Size of one video. Megabytes of 1,000,000 bytes. */
  readonly videoMegabytes: number
  /** How often each video is fetched from the CDN. */
  readonly downloads: number
  /** From the first byte of a relayed request to the last of its answer. Seconds. */
  readonly chatSeconds: number
  /** Budgets of keys and tenants, and balances with a low mark. */
  readonly budgets: number
  /** Commands of operators with an effect, a month. */
  readonly commands: number
}

export const DEFAULT_ASSUMPTIONS: Assumptions = {
  clientPollSeconds: 10,
  videoMegabytes: 8,
  downloads: 2,
  chatSeconds: 4,
  budgets: 100,
  commands: 1000,
}

/** How long each function works on one call, in seconds: the upstream's pace where it waits for one, a warm instance elsewhere. */
export const FUNCTION_SECONDS = {
  /** Waits for the submit's answer. */
  create: 1,
  get: 0.03,
  submit: 0.8,
  poll: 0.2,
  settle: 0.08,
  notify: 0.3,
} as const

/** A video passes through Store at this pace: megabytes a second, and so many seconds beside it. */
const STORE_PACE = { megabytesPerSecond: 20, besideSeconds: 0.5 } as const

export function storeSeconds({ videoMegabytes }: Assumptions): number {
  return STORE_PACE.besideSeconds + videoMegabytes / STORE_PACE.megabytesPerSecond
}

/** Log lines of one invocation with the platform's own, in kilobytes. */
export const LOG_KILOBYTES = 1.2
