import { describe, expect, it } from 'vitest'
import { outOfTime, SmokeFailure } from '../../lib/cli/smoke/gateway-client.ts'

describe('smoke-failure', () => {
  it('has an optional place to look at', () => {
    expect(new SmokeFailure('no video', 'the bucket').lookAt).toBe('the bucket')
    expect(new SmokeFailure('no video').lookAt).toBeUndefined()
  })

  it('names the option for more time', () => {
    expect(outOfTime()).toMatchObject({ name: 'SmokeFailure', lookAt: expect.stringContaining('--timeout-seconds') })
  })
})
