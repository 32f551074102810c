/** What a deployment's figures depend on and this repository cannot measure; each is an option of `npm run capacity`. */
export type Assumptions = {
  /** How often a client asks for its job while it is open. Seconds. */
  readonly clientPollSeconds: number
  /** Size of one video. Megabytes of 1,000,000 bytes. */
  readonly videoMegabytes: number
  /** How often each video is fetched from the CDN. */
  readonly downloads: number
  /** From the first byte of a relayed request to the last of its response, of the chats whose limits are shown. Seconds. */
  readonly chatSeconds: number
  /**
   * CPU time of a relayed request beside its events, on a whole vCPU: in a function, which serves few requests before it ends
   * (docs/performance.md, "Memory of the relay functions"), and in a process that serves many ("Relay" there).
   */
  readonly functionCpuMilliseconds: number
  readonly requestCpuMilliseconds: number
  /** CPU time of each event of a stream ("Relay" there). */
  readonly eventCpuMilliseconds: number
  /** Events of a stream, and the bytes of each. */
  readonly eventsPerSecond: number
  readonly eventBytes: number
  /** Times Lambda's prices of a vCPU and of a request that those of a Web Function may be; its rates are not published. */
  readonly webRateFactor: number
  /** What an environment of a Web Function may be billed for: what the process uses, or all of it. */
  readonly webMemoryGigabytes: { readonly low: number; readonly high: number }
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
  functionCpuMilliseconds: 5.4,
  requestCpuMilliseconds: 0.8,
  eventCpuMilliseconds: 0.06,
  eventsPerSecond: 50,
  eventBytes: 250,
  webRateFactor: 10,
  webMemoryGigabytes: { low: 0.25, high: 2 },
  budgets: 100,
  commands: 1000,
}

/** How long each function works on one call, in seconds: the upstream's pace where it waits for one, a warm instance elsewhere. */
export const FUNCTION_SECONDS = {
  /** Waits for the submit's answer. */
  create: 1,
  get: 0.03,
  delete: 0.06,
  submit: 0.8,
  poll: 0.2,
  settle: 0.08,
  notify: 0.3,
  /** With nothing due. */
  reconcile: 0.45,
} as const

/** A video passes through Store at this pace: megabytes a second, and so many seconds beside it. */
const STORE_PACE = { megabytesPerSecond: 20, besideSeconds: 0.5 } as const

export function storeSeconds({ videoMegabytes }: Assumptions): number {
  return STORE_PACE.besideSeconds + videoMegabytes / STORE_PACE.megabytesPerSecond
}

/** Log lines of one invocation with the platform's own, in kilobytes. */
export const LOG_KILOBYTES = 1.2

/**
 * Share of requests and executions that X-Ray records beyond the first of each second, which it records too (AWS X-Ray Developer Guide,
 * "Configuring sampling rules", the default rule).
 */
export const TRACED_SHARE = 0.05
