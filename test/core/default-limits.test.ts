import { describe, expect, it } from 'vitest'
import { OPEN_JOBS_DEFAULT, RATE_PER_MINUTE_DEFAULT } from '#core/default-limits.ts'
import { requestRate } from '#core/quota/request-rate.ts'
import { FUNCTION_TIMEOUT_SECONDS } from '../../lib/config/platform-facts.ts'

/** What AWS gives an account that asked for it, and what other functions need of that (docs/scaling.md, 1,000 open jobs). */
const CONCURRENCY = { account: 1_000, others: 50 }

/** Seconds between two polls of a job, the shortest that docs/api.md advises. */
const POLL_SECONDS = 10

describe('the limits of a key and a tenant that are made without saying', () => {
  it('keep one key from holding the Lambda concurrency of an account, however long each of its requests lasts', () => {
    const { burst, perMinute } = requestRate(RATE_PER_MINUTE_DEFAULT)
    const heldAtOnce = burst + (perMinute / 60) * FUNCTION_TIMEOUT_SECONDS.relay
    expect(heldAtOnce).toBeLessThanOrEqual(CONCURRENCY.account - CONCURRENCY.others)
  })

  it('let the tenant poll all jobs that it may have open', () => {
    expect((OPEN_JOBS_DEFAULT * 60) / POLL_SECONDS).toBeLessThanOrEqual(RATE_PER_MINUTE_DEFAULT)
  })
})
