import { describe, expect, it } from 'vitest'
import { actorOfClaims, roleOfClaims } from '#core/console/oidc-role.ts'

const ROLES = { claim: 'cognito:groups', owner: ['admins'], viewer: ['readers', 'admins'] }

describe('roleOfClaims', () => {
  it.each([
    [['admins'], 'owner'],
    ['readers', 'viewer'],
    [['readers', 'admins'], 'owner'],
    [['Admins'], undefined],
    [[], undefined],
    [undefined, undefined],
    [{ 0: 'admins', length: 1 }, undefined],
  ])('of %j is %s', (groups, role) => {
    expect(roleOfClaims({ 'cognito:groups': groups }, ROLES)).toBe(role)
  })

  it('reads no other claim', () => {
    expect(roleOfClaims({ groups: ['admins'], role: 'owner' }, ROLES)).toBeUndefined()
  })
})

describe('roleOfClaims by the email address', () => {
  const roles = { claim: 'email', owner: ['ada@example.com'], viewer: [] }

  it.each([
    [true, 'owner'],
    ['true', 'owner'],
    [false, undefined],
    ['false', undefined],
    ['', undefined],
    [1, undefined],
    [undefined, undefined],
  ])('with email_verified %j is %s', (verified, role) => {
    expect(roleOfClaims({ email: 'ada@example.com', email_verified: verified }, roles)).toBe(role)
  })
})

describe('actorOfClaims', () => {
  it.each([
    [{ sub: 'u1', email: 'ada@example.com', email_verified: true, name: 'Ada' }, 'ada@example.com (u1)'],
    [{ sub: 'u1', email: 'ada@example.com', email_verified: 'true' }, 'ada@example.com (u1)'],
    [{ sub: 'u1', email: 'ada@example.com', email_verified: false, name: 'Ada' }, 'u1'],
    [{ sub: 'u1', email: 'ada@example.com' }, 'u1'],
    [{ sub: 'u1', preferred_username: 'ada', name: 'Ada', email_verified: true }, 'u1'],
    [{ sub: 'u1', email: '', email_verified: true }, 'u1'],
    [{ sub: 'u\n1', email: 'a\u0000\u202eda@example.com', email_verified: true }, 'a da@example.com (u 1)'],
  ])('of %j is %s', (claims, actor) => {
    expect(actorOfClaims(claims)).toBe(actor)
  })

  it('stays short', () => {
    expect(
      actorOfClaims({ sub: 'x'.repeat(9_999), email: 'y'.repeat(9_999), email_verified: true }).length,
    ).toBeLessThan(210)
  })
})
