/**
 * The timeout of each function in seconds, on AWS and on the local host. Tasks of the state machine have ten seconds more, so
 * that the function ends first and reports why.
 */
export const FUNCTION_TIMEOUT_SECONDS = {
  /** The limit of API Gateway. */
  api: 29,
  /** The limit of API Gateway for a streamed response, and of Lambda. */
  relay: 900,
  /** Longer than the limit of a submit to an upstream, so that the outcome is recorded. */
  'submit-video-job': 40,
  /** All references in parallel, each with a few small requests, take up to four seconds. */
  'check-references': 10,
  /** Covers three requests at the limit of an upstream: state and cancel of a deleted job, and the poll. */
  'poll-video-job': 60,
  'store-video': 840,
  'settle-video-job': 30,
  'fail-video-job': 40,
  webhook: 30,
  /** Ends before the next minute's run is due. */
  reconcile: 55,
} as const

const { api: _api, relay: _relay, reconcile: _reconcile, ...steps } = FUNCTION_TIMEOUT_SECONDS
/** Functions of a video job: its steps and the callback. */
export const PIPELINE_FUNCTIONS = Object.keys(steps).length
