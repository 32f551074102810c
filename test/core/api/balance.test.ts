import { describe, expect, it } from '@jest/globals'
import { type AccountView, balanceView } from '#core/api/balance.ts'
import type { Budget } from '#core/budgets.ts'
import { microcredits, parseCredits } from '#core/money.ts'

const NOW = Date.parse('2026-11-22T10:00:00Z')

const balance = {
  available: microcredits(-21n),
  held: parseCredits('0.7'),
  spent: parseCredits('9.300021'),
  granted: parseCredits('10'),
}
const key = { id: 'key1', name: 'search', models: ['chat-default'], expiresAt: 1_796_083_200, budget: null }
const view = (changes: Partial<AccountView['key']> = {}) => balanceView({ balance, key: { ...key, ...changes } }, NOW)

const budget: Budget = {
  amount: parseCredits('20'),
  period: { kind: 'month', id: '2026-11' },
  spent: parseCredits('4.21'),
  held: parseCredits('0.7'),
  left: parseCredits('15.09'),
  free: parseCredits('19.3'),
}

describe('balanceView', () => {
  it('shows amounts as decimal strings, negative ones too, and the key', () => {
    expect(view()).toEqual({
      object: 'balance',
      unit: 'credit',
      available: '-0.000021',
      held: '0.7',
      spent: '9.300021',
      granted: '10',
      key: {
        id: 'key1',
        name: 'search',
        models: ['chat-default'],
        expires_at: 1_796_083_200,
        rate: null,
        budget: null,
      },
    })
  })

  it('shows null for a key without a name, a list of models and an end', () => {
    const { name, models, expires_at } = view({ name: null, models: null, expiresAt: null }).key
    expect([name, models, expires_at]).toEqual([null, null, null])
  })

  it('shows the budget of the current period and when the next one begins', () => {
    expect(view({ budget }).key.budget).toEqual({
      amount: '20',
      period: 'month',
      spent: '4.21',
      held: '0.7',
      resets_at: Date.parse('2026-12-01T00:00:00Z') / 1000,
    })
  })

  it('shows nothing spent of a period in which no money moved yet, and keeps what is held', () => {
    const earlier = { ...budget, period: { kind: 'day', id: '2026-11-21' } } as const
    expect(view({ budget: earlier }).key.budget).toMatchObject({
      spent: '0',
      held: '0.7',
      resets_at: Date.parse('2026-11-23T00:00:00Z') / 1000,
    })
  })

  it('shows no reset of a budget that never starts again', () => {
    const total = { ...budget, period: { kind: 'total', id: 'total' } } as const
    expect(view({ budget: total }).key.budget).toMatchObject({ period: 'total', spent: '4.21', resets_at: null })
  })
})
