import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type ClaimConditions, meetsConditions } from '#core/claims.ts'

const CLAIMS = {
  sub: 'repo:acme/gateway:ref:refs/heads/main',
  repository: 'acme/gateway',
  groups: ['admins', 'team-a', 7],
  run: 12,
  verified: true,
  empty: '',
  nothing: null,
  'kubernetes.io': { namespace: 'ci', serviceaccount: { name: 'runner' } },
  'a/b': { 'c~d': 'deep' },
}

describe('meetsConditions', () => {
  it.each<[string, ClaimConditions]>([
    ['the whole claim', { repository: 'acme/gateway' }],
    ['a star for any characters, a slash too', { sub: 'repo:acme/*:ref:*' }],
    ['a star for no character', { repository: 'acme/gateway*' }],
    ['a star alone', { empty: '*' }],
    ['one of a list of patterns', { repository: ['other/*', 'acme/*'] }],
    ['one string of a list claim', { groups: 'team-*' }],
    ['a number', { run: 12 }],
    ['a boolean', { verified: true }],
    ['a JSON pointer', { '/kubernetes.io/serviceaccount/name': 'runner' }],
    ['a JSON pointer with escapes', { '/a~1b/c~0d': 'deep' }],
    ['every one of several claims', { repository: 'acme/*', run: 12 }],
    ['no patterns', {}],
  ])('finds %s', (_, when) => {
    expect(meetsConditions(when, CLAIMS)).toBe(true)
  })

  it.each<[string, ClaimConditions]>([
    ['a part of a claim', { repository: 'acme' }],
    ['another case', { repository: 'Acme/gateway' }],
    ['an overlap of the parts beside a star', { repository: 'acme/gateway*gateway' }],
    ['a dot or a question mark as anything else than itself', { repository: 'acme.gatewa?' }],
    ['a missing claim', { other: '*' }],
    ['null', { nothing: '*' }],
    ['a number of a list claim', { groups: 7 }],
    ['an object', { 'kubernetes.io': '*' }],
    ['a number written as a string', { run: '12' }],
    ['a boolean written as a string', { verified: 'true' }],
    ['a pointer beyond the end', { '/kubernetes.io/namespace/x': '*' }],
    ['what objects inherit', { constructor: '*', '/toString/name': '*' }],
    ['one of two claims alone', { repository: 'acme/*', run: 13 }],
    ['no pattern of an empty list', { repository: [] }],
  ])('does not find %s', (_, when) => {
    expect(meetsConditions(when, CLAIMS)).toBe(false)
  })

  it('agrees with a regular expression whose only special sign is the star', () => {
    const text = fc.array(fc.constantFrom('a', 'b', '/', '.'), { maxLength: 12 }).map((parts) => parts.join(''))
    const pattern = fc.array(fc.constantFrom('a', 'b', '/', '.', '*'), { maxLength: 8 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, pattern, (value, glob) => {
        const expression = new RegExp(`^${glob.replaceAll('.', '\\.').replaceAll('*', '.*')}$`, 's')
        expect(meetsConditions({ value: glob }, { value })).toBe(expression.test(value))
      }),
    )
  })

  it('takes no longer for hostile patterns than for others', () => {
    const value = 'a'.repeat(200_000)
    expect(meetsConditions({ value: `${'*a'.repeat(200)}*b` }, { value })).toBe(false)
  })
})
