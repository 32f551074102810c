/** How long and how often the relay is measured. */
export type RelayEffort = {
  readonly rounds: number
  readonly warmUpSeconds: number
  readonly measuredSeconds: number
  /** Requests before memory is read. */
  readonly requests: number
  /** The longest wait for a machine without other work, before each run. */
  readonly idleSecondsMax: number
}

/** For figures that are kept. */
export const FULL_EFFORT: RelayEffort = {
  rounds: 3,
  warmUpSeconds: 1,
  measuredSeconds: 5,
  requests: 10_000,
  idleSecondsMax: 60,
}

/** For trying out. */
export const QUICK_EFFORT: RelayEffort = {
  rounds: 1,
  warmUpSeconds: 0.5,
  measuredSeconds: 1,
  requests: 1_000,
  idleSecondsMax: 0,
}
