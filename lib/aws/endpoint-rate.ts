/** Rates that an endpoint of a Web Function accepts: 100 to 1,000 by 100, and 2,000 to 10,000 by 1,000. */
const STEP = { min: 100, small: 100, large: 1_000, max: 10_000 }

/**
 * The rate of an endpoint for a throttle of the stage: the next lower one that Lambda accepts, at least 100 requests a second. Undefined above
 * 10,000, which only the quota of the account bounds.
 */
export function endpointRateOf(requestsPerSecond: number): number | undefined {
  if (requestsPerSecond > STEP.max) {
    return undefined
  }
  const step = requestsPerSecond < STEP.large ? STEP.small : STEP.large
  return Math.max(STEP.min, Math.floor(requestsPerSecond / step) * step)
}
