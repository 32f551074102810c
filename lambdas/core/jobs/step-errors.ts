import { FAILURE_TEXT } from './failure-text.ts'

/**
 * Steps throw to signal failure; the `name` is what the state machine's Retry and Catch match.
 * Messages hold no upstream text: what a client may read lies on the job record.
 */
export class UpstreamRejectedError extends Error {
  override readonly name = 'UpstreamRejectedError'
}
/** A reference breaks a limit of its model; the record names it. */
export class ReferenceRefusedError extends Error {
  override readonly name = 'ReferenceRefusedError'
}
/** The upstream says that the generation failed. */
export class UpstreamFailedError extends Error {
  override readonly name = 'UpstreamFailedError'
}
/** Nobody knows whether the upstream accepted the job, so that it is not posted again. */
export class SubmitUnknownError extends Error {
  override readonly name = 'SubmitUnknownError'
}
/** Every channel refused the job, or none took it before it had been queued for too long. */
export class NoUpstreamCapacityError extends Error {
  override readonly name = 'NoUpstreamCapacityError'
}
/** The upstream was not done at the deadline of the generation. */
export class GenerationTimedOutError extends Error {
  override readonly name = 'GenerationTimedOutError'
}
/** Poll after poll does not find the task: the upstream knows it no more. */
export class TaskGoneError extends Error {
  override readonly name = 'TaskGoneError'
}
/** Worth another try: the state machine retries it, and Store gives up after an hour. */
export class StoreFailedError extends Error {
  override readonly name = 'StoreFailedError'
}
/** The result could not be stored, and no further try is made. */
export class ResultNotStoredError extends Error {
  override readonly name = 'ResultNotStoredError'
}
/** What the upstream offers as its result is no video. */
export class ResultNotAVideoError extends Error {
  override readonly name = 'ResultNotAVideoError'
}
/** The client deleted the job while it was under way. */
export class JobDeletedError extends Error {
  override readonly name = 'JobDeletedError'
}

const TEXT_BY_ERROR_NAME: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ReferenceRefusedError: FAILURE_TEXT.referenceRefused,
    SubmitUnknownError: FAILURE_TEXT.submitOutcomeUnknown,
    NoUpstreamCapacityError: FAILURE_TEXT.noUpstreamCapacity,
    GenerationTimedOutError: FAILURE_TEXT.generationTimedOut,
    TaskGoneError: FAILURE_TEXT.taskIsGone,
    StoreFailedError: FAILURE_TEXT.resultCouldNotBeStored,
    ResultNotStoredError: FAILURE_TEXT.resultCouldNotBeStored,
    ResultNotAVideoError: FAILURE_TEXT.resultIsNotAVideo,
    JobDeletedError: FAILURE_TEXT.deleted,
  }),
)

/** The `error` of a job whose record holds none: from the name under which its execution failed. */
export function failureTextOf(errorName: string | undefined): string {
  return TEXT_BY_ERROR_NAME.get(errorName ?? '') ?? FAILURE_TEXT.internal
}
