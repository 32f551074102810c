import { describe, expect, it } from 'vitest'
import { describeChange } from '../../../lib/cli/admin/audit.ts'

describe('describe-change', () => {
  it.each([
    [
      'tenant',
      { state: 'active' },
      { state: 'suspended', reason: 'unpaid' },
      'state active -> suspended, reason unpaid',
    ],
    ['tenant', null, { name: 'Acme', amount: '10' }, 'name Acme, amount 10'],
    ['key', { models: null, rate: 60 }, { models: ['a', 'b'], rate: 60 }, 'models all -> a+b'],
    ['key', null, { models: null, rate: null }, 'models all'],
    ['key', { rate: 60 }, null, 'rate 60 -> none'],
    ['channel', { state: 'disabled', weight: 3 }, { state: null, weight: 3 }, 'state disabled -> as configured'],
    ['model', { state: null }, { state: 'disabled' }, 'state as configured -> disabled'],
    ['secret', null, null, ''],
    ['key', { name: null }, { name: null }, ''],
  ])('of a %s with %j and %j is %j', (kind, before, after, change) => {
    expect(describeChange({ kind, before, after })).toBe(change)
  })
})
