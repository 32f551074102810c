import { describe, expect, it } from '@jest/globals'
import { RATE_PER_MINUTE_DEFAULT } from '#core/limits.ts'
import { isRateReadable, type KeyFacts, keyChanges, keyDraft, newKeyBody } from '#web/core/key-draft.ts'

const row: KeyFacts = {
  name: 'search',
  models: ['chat-default'],
  rate_per_minute: 60,
  budget: { amount: '5', period: 'day' },
}
const NOW = 1_000_000

describe('key-draft', () => {
  it('makes the body of a new key, with null for whatever is left empty', () => {
    const draft = { ...keyDraft(null), name: ' ', rate: '', expiry: '86400' }
    expect(newKeyBody(draft, { tenant: 'demo', now: NOW, budget: null })).toEqual({
      tenant: 'demo',
      name: null,
      models: null,
      rate_per_minute: null,
      budget: null,
      expires_at: new Date((NOW + 86_400) * 1000).toISOString(),
    })
  })

  it('changes nothing by being opened', () => {
    expect(keyChanges(keyDraft(row), row, { now: NOW, budget: row.budget })).toEqual({})
  })

  it('sends what was changed alone, and null for what was emptied', () => {
    const draft = { ...keyDraft(row), rate: '', models: null, expiry: 'never' }
    expect(keyChanges(draft, row, { now: NOW, budget: row.budget })).toEqual({
      models: null,
      rate_per_minute: null,
      expires_at: null,
    })
    const budget = { amount: '', period: 'day' } as const
    expect(keyChanges({ ...keyDraft(row), budget }, row, { now: NOW, budget: null })).toEqual({ budget: null })
  })

  it('sends the budget when its period alone was changed', () => {
    const budget = { amount: '5', period: 'month' } as const
    expect(keyChanges({ ...keyDraft(row), budget }, row, { now: NOW, budget })).toEqual({ budget })
  })

  it('begins with the rate of a key that is made without one', () => {
    expect(keyDraft(null).rate).toBe(String(RATE_PER_MINUTE_DEFAULT))
  })

  it('reads a rate as a whole number above zero or as none', () => {
    expect(['', '60', ' 5 ', '0', '-1', '1.5', 'x'].map((rate) => isRateReadable({ rate }))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      false,
    ])
  })
})
