import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  limitsOf,
  matchesPattern,
  matchingRule,
  meetsConditions,
  readLimits,
  unmetClaim,
  writeLimits,
} from '#core/identity.ts'

describe('matchesPattern', () => {
  it.each([
    ['acme/*', 'acme/app', true],
    ['acme/*', 'acme/', true],
    ['acme/*', 'acme-evil/app', false],
    ['acme/*', 'evil/acme/app', false],
    ['*', '', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['ab*ba', 'aba', false],
    ['a.c', 'abc', false],
    ['Acme', 'acme', false],
    ['acme', 'acme\n', false],
  ])('of %j and %j is %s', (pattern, text, expected) => {
    expect(matchesPattern(pattern, text)).toBe(expected)
  })

  it('agrees with a regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), maxLength: 12 })
    fc.assert(
      fc.property(text, text, (pattern, subject) => {
        const parts = pattern.split('*').map((part) => part.replaceAll('.', '\\.'))
        expect(matchesPattern(pattern, subject)).toBe(new RegExp(`^${parts.join('.*')}$`, 's').test(subject))
      }),
    )
  })

  it('takes linear time for a long text of a stranger', () => {
    const started = performance.now()
    expect(matchesPattern(`${'*a'.repeat(50)}b`, 'a'.repeat(100_000))).toBe(false)
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})

describe('meetsConditions', () => {
  const claims = {
    sub: 'system:serviceaccount:prod:worker',
    groups: ['eng', 'ml', 7],
    email_verified: true,
    run_attempt: 3,
    'kubernetes.io': { namespace: 'prod', 'a/b': 'x' },
  }

  it.each([
    [{ sub: 'system:serviceaccount:prod:*' }, true],
    [{ groups: 'ml' }, true],
    [{ groups: ['sales', 'eng'] }, true],
    [{ groups: 7 }, false],
    [{ email_verified: true, run_attempt: 3 }, true],
    [{ email_verified: 'true' }, false],
    [{ '/kubernetes.io/namespace': 'prod' }, true],
    [{ '/kubernetes.io/a~1b': 'x' }, true],
    [{ '/groups/0': 'eng' }, false],
    [{ toString: '*' }, false],
    [{ missing: '*' }, false],
    [{ sub: '*', missing: '*' }, false],
  ])('of %j is %s', (when, expected) => {
    expect(meetsConditions(when, claims)).toBe(expected)
    expect(unmetClaim(when, claims) === undefined).toBe(expected)
  })

  it('takes the first rule that holds', () => {
    const rules = [{ when: { sub: 'other' } }, { when: { groups: 'ml' } }, { when: { sub: '*' } }]
    expect(matchingRule(rules, claims)).toBe(rules[1])
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
