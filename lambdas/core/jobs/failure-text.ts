/** The gateway's own words for a failed job (docs/decisions/0015); an upstream's message is passed on instead. */
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
  internal: 'internal error',
} as const
