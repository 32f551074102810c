import { describe, expect, it } from '@jest/globals'
import { describeChange } from '../../../lib/admin/audit/describe-change.ts'

describe('describe-change', () => {
  it.each([
    [{ state: 'active' }, { state: 'suspended', reason: 'unpaid' }, 'state active -> suspended, reason unpaid'],
    [null, { name: 'Acme', amount: '10' }, 'name Acme, amount 10'],
    [{ models: null, rate: 60 }, { models: ['a', 'b'], rate: 60 }, 'models none -> a+b'],
    [{ rate: 60 }, null, 'rate 60 -> none'],
    [null, null, ''],
    [{ name: null }, { name: null }, ''],
  ])('%j and %j is %j', (before, after, change) => {
    expect(describeChange(before, after)).toBe(change)
  })
})
