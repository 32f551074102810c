import type { JobFailure } from './job-failure.ts'

/** What a step returns: the next state and, before a wait, its whole seconds. Read by `video-job.asl.json`. */
export type NextStep =
  | { readonly step: 'submit' | 'poll'; readonly waitSeconds: number }
  | { readonly step: 'check' | 'store' | 'settle' | 'notify' | 'done' }
  /** The job fails. The record holds the reason for the client, the name that for the operator. */
  | { readonly step: 'fail'; readonly error: JobFailure }

/**
 * The input of a step: what its execution carries. A running execution keeps its definition for hours after a deployment, so no step
 * may return what an older definition does not know. The definition passes its number, for the first change that needs it.
 */
export type StepInput = {
  readonly tenantId: string
  readonly jobId: string
  /** The result of the previous step: Poll reads the wait before it, Fail the failure. */
  readonly next?: { readonly waitSeconds?: number; readonly error?: string }
  /** The error that broke the previous step; for Fail. */
  readonly failure?: { readonly Error?: string }
}
