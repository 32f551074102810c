import { setTimeout as delay } from 'node:timers/promises'

/** What tells the time and lets it pass, so that tests can do both at their own speed. */
export type Clock = {
  /** Unix time. */
  readonly nowMilliseconds: () => number
  readonly pause: (milliseconds: number) => Promise<void>
}

/** The clock of the machine; pauses take real time. */
export const systemClock: Clock = {
  nowMilliseconds: Date.now,
  pause: async (milliseconds) => {
    await delay(milliseconds)
  },
}
