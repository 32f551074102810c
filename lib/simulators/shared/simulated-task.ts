import type { MagicPrompt } from './magic-prompt.ts'

/** The phase of a task, independent of the provider's status words. */
export type TaskPhase = 'waiting' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'expired'

/** An accepted task. `Details` holds the data for the provider's responses. */
export type NewTask<Details> = {
  readonly id: string
  readonly prompt: string
  readonly submittedAtMs: number
  /** Seconds after the submit until an unfinished task ends as `expired`. */
  readonly limitSeconds: number
  readonly details: Details
}

/** A task at one moment. */
export type SimulatedTask<Details> = NewTask<Details> & {
  readonly magic: MagicPrompt
  readonly phase: TaskPhase
  readonly startsAtMs: number
  readonly endsAtMs: number
  /** When `phase` began. */
  readonly changedAtMs: number
}
