/**
 * Seconds after which Lambda ends each function. The stack deploys them and the local host enforces them;
 * every task of the state machine has ten seconds more, so that a function ends first and says why.
 */
export const FUNCTION_TIMEOUT_SECONDS = {
  /** API Gateway gives up at the same second. */
  api: 29,
  /** As long as API Gateway streams an answer, and the most that Lambda has. */
  relay: 900,
  /** Longer than the submit's own limit towards an upstream, so that the outcome is recorded. */
  'submit-video-job': 40,
  /** All references side by side, each by a few small requests: four seconds in all. */
  'check-references': 10,
  /** Three answers of an upstream that takes all of its time: state and cancel of a deleted job, and the poll itself. */
  'poll-video-job': 60,
  'store-video': 840,
  'settle-video-job': 30,
  'fail-video-job': 40,
  webhook: 30,
  /** Ends before the next minute's run is due. */
  reconcile: 55,
} as const
