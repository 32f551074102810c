import { describe, expect, it } from 'vitest'
import { type Budget, periodAt } from '#core/budgets.ts'
import { parseCredits } from '#core/money.ts'
import { describeKeys, describeNewKey, keyRow } from '../../../lib/cli/admin/keys.ts'

const KEY = {
  keyId: 'k-1',
  tenantId: 'acme',
  name: 'web',
  state: 'active',
  suspended: false,
  models: ['chat'],
  expiresAt: Date.parse('2099-01-31T00:00:00Z'),
  endBeforeReplacement: undefined,
  ratePerMinute: 60,
  budget: { id: 'k-0', kind: 'total' },
  createdAt: 0,
  revision: undefined,
} as const

const BUDGET: Budget = {
  amount: parseCredits('5'),
  period: periodAt('total', 0),
  spent: parseCredits('1'),
  held: parseCredits('0'),
  left: parseCredits('4'),
  free: parseCredits('5'),
}

describe('describe-key', () => {
  it('shows a key by its public id with its limits', () => {
    expect(keyRow({ ...KEY, budget: null }, undefined)).toEqual({
      id: 'k-1',
      tenant: 'acme',
      state: 'active',
      models: ['chat'],
      created_at: '1970-01-01T00:00:00.000Z',
      name: 'web',
      expires_at: '2099-01-31T00:00:00.000Z',
      rate_per_minute: 60,
      budget: null,
    })
    const { text } = describeKeys([{ ...KEY, budget: null }], new Map())
    expect(text).toMatch(/k-1 +acme +web +active +2099-\S+ +60\/min +- +- +chat/)
  })

  it('shows the budget of a key and what is left of it, or that it is missing', () => {
    const { json, text } = describeKeys([KEY], new Map([['k-0', BUDGET]]))
    expect(json).toMatchObject({ keys: [{ id: 'k-1', budget: { amount: '5', period: 'total', left: '4' } }] })
    expect(text).toMatch(/60\/min +5\/total +4 +chat/)
    expect(describeKeys([KEY], new Map()).text).toMatch(/60\/min +missing +- +chat/)
  })

  it('shows the budget of a new key only if there is one', () => {
    const wish = { models: null, name: undefined, expiresAt: undefined, ratePerMinute: undefined }
    const made = describeNewKey({ id: 'k1', key: 'rg_x', tenant: 'acme', budget: BUDGET, ...wish })
    expect(made.text).toContain('budget 5/total: 1 spent, 0 held, 4 left')
    expect(made.json).toMatchObject({ budget: { amount: '5' } })
    const without = describeNewKey({ id: 'k1', key: 'rg_x', tenant: 'acme', budget: undefined, ...wish })
    expect(without.json).not.toHaveProperty('budget')
  })
})
