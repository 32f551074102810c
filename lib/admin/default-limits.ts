/**
 * Requests per minute of a key that is made without `--rate`. A relayed request holds an instance of Lambda for as long as it lasts, at
 * most the 15 minutes of its function: ten at once and one a second come to 910, which leaves some of an account's 1,000.
 */
export const RATE_PER_MINUTE_DEFAULT = 60

/** Open video jobs of a tenant that is made without `--open-jobs`: that many can be polled every ten seconds at the rate above. */
export const OPEN_JOBS_DEFAULT = 10
