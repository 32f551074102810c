/** What a step of the execution answers: the next state and, before a wait, its whole seconds. Read by `video-job.asl.json`. */
export type NextStep =
  | { readonly step: 'submit' | 'poll'; readonly waitSeconds: number }
  | { readonly step: 'store' | 'settle' | 'notify' | 'done' }

/** The input of an execution and of every step in it. */
export type StepInput = { readonly tenantId: string; readonly jobId: string }

/** Poll finds the wait before it where the step before it left it. */
export type PollInput = StepInput & { readonly next?: { readonly waitSeconds?: number } }
