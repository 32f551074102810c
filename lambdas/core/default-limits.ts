/**
 * Requests per minute of a key that is created without `--rate`. A relayed request occupies a Lambda instance for up to the 15 minutes of
 * its function: ten at once and one per second add up to 910 instances, below the 1,000 of an account.
 */
export const RATE_PER_MINUTE_DEFAULT = 60

/** Open video jobs of a tenant that is created without `--open-jobs`: the rate above allows a read of each every ten seconds. */
export const OPEN_JOBS_DEFAULT = 10
