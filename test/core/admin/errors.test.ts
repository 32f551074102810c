import { describe, expect, it } from '@jest/globals'
import { AdminConflictError } from '#core/admin/errors.ts'

describe('AdminConflictError', () => {
  it('has a code for programs, and the field that would permit the change if there is one', () => {
    expect(new AdminConflictError('no', 'rotated_already', { param: 'again' }).kind).toEqual({
      ...{ type: 'invalid_request_error', code: 'rotated_already', param: 'again' },
    })
    expect(new AdminConflictError('no', 'changed_meanwhile').kind).not.toHaveProperty('param')
  })
})
