import { describe, expect, it } from 'vitest'
import { latestSwitch } from '#lambdas/admin/switches/latest-switch.ts'

describe('latestSwitch', () => {
  it('names who set the latest of several', () => {
    const set = { weight: { value: 1, by: 'ada', at: 5 }, priority: { value: 1, by: 'bob', at: 9 }, enabled: undefined }
    expect(latestSwitch(set)).toEqual({ switched_by: 'bob', switched_at: 9 })
    expect(latestSwitch(undefined)).toEqual({ switched_by: null, switched_at: null })
  })
})
