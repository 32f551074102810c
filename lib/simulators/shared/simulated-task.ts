import type { MagicPrompt } from './magic-prompt.ts'

/** Where a task is in its life, whatever word the provider has for it. */
export type TaskPhase = 'waiting' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'expired'

/** A task as it was accepted. `Details` is what the provider's own responses need. */
export type NewTask<Details> = {
  readonly id: string
  readonly prompt: string
  readonly submittedAtMs: number
  /** Seconds after the submit at which a task that is not done ends as `expired`. */
  readonly limitSeconds: number
  readonly details: Details
}

/** A task at one moment. */
export type SimulatedTask<Details> = NewTask<Details> & {
  readonly magic: MagicPrompt
  readonly phase: TaskPhase
  readonly startsAtMs: number
  readonly endsAtMs: number
  /** When it came into `phase`. */
  readonly changedAtMs: number
}
