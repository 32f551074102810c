import { describe, expect, it } from 'vitest'
import type { Budget } from '#core/money/budget.ts'
import { microcredits, parseCredits } from '#core/money/money.ts'
import { offerVideoJob } from '#core/quota/offer-video-job.ts'
import { videoQuote } from '#core/quota/video-quote.ts'
import { PER_SECOND_MODEL, testCatalogue } from '../../engines/test-catalogue.ts'

const NOW = Date.parse('2026-11-22T10:00:00Z')
const ZERO = microcredits(0n)
const body = { model: PER_SECOND_MODEL, prompt: 'a boat', duration: 5 }
const offer = offerVideoJob(body, { catalogue: testCatalogue(), allowedModels: null })

function budget(left: string): Budget {
  const amount = parseCredits(left)
  return { amount, period: { kind: 'day', id: '2026-11-22' }, spent: ZERO, held: ZERO, left: amount, free: amount }
}

function quote(available: string, budgets: { key?: Budget; tenant?: Budget } = {}) {
  const balance = { available: parseCredits(available), held: ZERO, spent: ZERO, granted: parseCredits(available) }
  const key = { id: 'key1', name: null, models: null, expiresAt: null, budget: budgets.key ?? null }
  return videoQuote(offer, { balance, tenantBudget: budgets.tenant, key }, NOW)
}

describe('videoQuote', () => {
  it('shows the estimate with its lines and what is available', () => {
    expect(quote('10')).toEqual({
      object: 'video.quote',
      model: PER_SECOND_MODEL,
      estimate: '0.7',
      lines: [expect.objectContaining({ quantity: '5', unit: 'second', amount: '0.7' })],
      available: '10',
      affordable: true,
    })
  })

  it('is affordable with exactly the funds, and not a millionth below', () => {
    expect([quote('0.7').affordable, quote('0.699999').affordable]).toEqual([true, false])
  })

  it('is affordable only if the budgets of key and tenant have room too', () => {
    expect(quote('10', { key: budget('0.7'), tenant: budget('0.7') }).affordable).toBe(true)
    expect(quote('10', { key: budget('0.699999') }).affordable).toBe(false)
    expect(quote('10', { tenant: budget('0.699999') }).affordable).toBe(false)
  })
})
