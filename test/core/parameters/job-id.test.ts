import { v4, v7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import { isJobId, jobIdMilliseconds } from '#core/parameters/job-id.ts'

describe('isJobId', () => {
  it.each([v7(), v4(), '00000000-0000-0000-0000-000000000000'])('takes %s', (id) => {
    expect(isJobId(id)).toBe(true)
  })

  it.each(['', 'x', v7().toUpperCase().replace(/^0/, 'A'), `{${v7()}}`, `${v7()}\n`, `${v7()}/x`, v7().slice(1)])(
    'does not take %j',
    (id) => {
      expect(isJobId(id)).toBe(false)
    },
  )
})

describe('jobIdMilliseconds', () => {
  it('reads when an id was made', () => {
    expect(jobIdMilliseconds('01a1fc29-ad7d-744a-be2b-91335e7ede96')).toBe(0x01a1fc29ad7d)
  })
})
