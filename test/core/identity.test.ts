import { describe, expect, it } from '@jest/globals'
import { unmetClaim } from '#core/claims.ts'
import { limitsOf, matchingRule, readLimits, writeLimits } from '#core/identity.ts'

describe('rules of an issuer', () => {
  const claims = { sub: 'worker', groups: ['eng', 'ml'] }

  it('are tried in their order: the first that holds counts', () => {
    const rules = [{ when: { sub: 'other' } }, { when: { groups: 'ml' } }, { when: { sub: '*' } }]
    expect(matchingRule(rules, claims)).toBe(rules[1])
  })

  it('tell the first claim that does not hold', () => {
    expect(unmetClaim({ sub: '*', groups: 'ops', missing: '*' }, claims)).toBe('groups')
  })
})

describe('limits of a rule', () => {
  it('are the same after they were written and read', () => {
    const rule = {
      name: 'ci',
      when: { sub: '*' },
      tenant: 'acme',
      rate: null,
      budget_of_all: '5/day',
      models: ['chat'],
    }
    const limits = limitsOf(rule)
    expect(readLimits(writeLimits(limits))).toEqual(limits)
    expect(limits).toMatchObject({ models: ['chat'], ratePerMinute: null, sharesBudget: true })
  })
})
