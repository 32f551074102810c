/** The statuses of an execution, as Step Functions names them. */
export type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED'

/** One execution; times in Unix milliseconds. */
export type Execution = {
  readonly name: string
  readonly input: string
  readonly startedAt: number
  status: ExecutionStatus
  endedAt: number | undefined
  /** Error name of a failed execution. */
  error: string | undefined
}

/** An execution of this name runs with another input, or has ended. */
export class ExecutionAlreadyExistsError extends Error {
  override readonly name = 'ExecutionAlreadyExists'
}

/** The input is not JSON or too large; no execution was started. */
export class InvalidExecutionInputError extends Error {
  override readonly name = 'InvalidExecutionInput'
}
