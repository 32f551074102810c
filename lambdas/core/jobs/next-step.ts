/** What a step of the execution answers: the next state and, before a wait, its whole seconds. Read by `video-job.asl.json`. */
export type NextStep =
  | { readonly step: 'submit' | 'poll'; readonly waitSeconds: number }
  | { readonly step: 'check' | 'store' | 'settle' | 'notify' | 'done' }

/** The input of an execution and of every step in it. */
export type StepInput = { readonly tenantId: string; readonly jobId: string }

/**
 * Submit is told which definition its execution began under: a running execution keeps its own for hours after a deployment.
 * Definitions older than the marker send none.
 */
export type SubmitInput = StepInput & { readonly definition?: number }

/** The first definition in which Submit may answer `check`; in an older one that would end the execution. */
export const CHECKING_DEFINITION = 2

/** Poll finds the wait before it where the step before it left it. */
export type PollInput = StepInput & { readonly next?: { readonly waitSeconds?: number } }
