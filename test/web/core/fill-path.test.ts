import { describe, expect, it } from 'vitest'
import { fillPath } from '#web/core/fill-path.ts'

describe('fillPath', () => {
  it('encodes each id, so that none leads to another path', () => {
    expect(fillPath('/models/{model}/switches', { model: 'a/../b?c' })).toBe('/models/a%2F..%2Fb%3Fc/switches')
  })

  it('fails for an id that is missing or empty, which would name the list', () => {
    expect(() => fillPath('/videos/{job_id}', {})).toThrow('needs job_id')
    expect(() => fillPath('/videos/{job_id}', { job_id: '' })).toThrow('needs job_id')
  })
})
