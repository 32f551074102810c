/** The gateway's own texts for the `error` of a failed job. An upstream's message takes their place where there is one. */
export const FAILURE_TEXT = {
  generationTimedOut: 'generation timed out',
  referenceRefused: 'a reference breaks a limit of the model',
  noUpstreamCapacity: 'no upstream capacity',
  resultCouldNotBeStored: 'result could not be stored',
  submitOutcomeUnknown: 'submit outcome unknown',
  resultIsNotAVideo: 'upstream result is not a video',
  taskIsGone: 'upstream lost the task',
  deleted: 'deleted by the client',
  cancelledByOperator: 'cancelled by the operator',
  cancelledByClient: 'cancelled by the client',
  internal: 'internal error',
} as const

/**
 * Every expected failure of a job, and its text when the record holds none. An upstream's refusal or failure is always
 * recorded with its message, so no text is due.
 */
const TEXT_BY_FAILURE = {
  /** The upstream refused the request. */
  UpstreamRejectedError: FAILURE_TEXT.internal,
  /** The upstream reported that the generation failed. */
  UpstreamFailedError: FAILURE_TEXT.internal,
  /** A reference breaks a limit of its model. */
  ReferenceRefusedError: FAILURE_TEXT.referenceRefused,
  /** The upstream may have accepted the job, so it is not posted again. */
  SubmitUnknownError: FAILURE_TEXT.submitOutcomeUnknown,
  /** Every channel refused the job, or none took it before its time in the queue was over. */
  NoUpstreamCapacityError: FAILURE_TEXT.noUpstreamCapacity,
  /** The upstream had not finished by the deadline. */
  GenerationTimedOutError: FAILURE_TEXT.generationTimedOut,
  /** Several polls in a row did not find the task. */
  TaskGoneError: FAILURE_TEXT.taskIsGone,
  /** The last try to store the result failed. Thrown while more tries are left. */
  StoreFailedError: FAILURE_TEXT.resultCouldNotBeStored,
  /** The result cannot be stored, and no further try would change that. */
  ResultNotStoredError: FAILURE_TEXT.resultCouldNotBeStored,
  /** The result is not a video. */
  ResultNotAVideoError: FAILURE_TEXT.resultIsNotAVideo,
  /** The client deleted or cancelled the job before it was submitted, or the upstream cancelled its task. */
  JobDeletedError: FAILURE_TEXT.deleted,
} as const

/** Why a job fails, as a step reports it to the state machine. */
export type JobFailure = keyof typeof TEXT_BY_FAILURE

/**
 * The `error` of a job whose record holds no reason.
 * @param name a {@link JobFailure}, or the name of any other error that broke its execution.
 */
export function failureTextOf(name: string | undefined): string {
  return new Map<string, string>(Object.entries(TEXT_BY_FAILURE)).get(name ?? '') ?? FAILURE_TEXT.internal
}
