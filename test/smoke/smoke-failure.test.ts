import { describe, expect, it } from '@jest/globals'
import { outOfTime, SmokeFailure } from '../../lib/smoke/smoke-failure.ts'

describe('smoke-failure', () => {
  it('has a place to look at where there is one', () => {
    expect(new SmokeFailure('no video', 'the bucket').lookAt).toBe('the bucket')
    expect(new SmokeFailure('no video').lookAt).toBeUndefined()
  })

  it('names the option that gives more time', () => {
    expect(outOfTime()).toMatchObject({ name: 'SmokeFailure', lookAt: expect.stringContaining('--timeout-seconds') })
  })
})
