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

describe('actorOfClaims', () => {
  it.each([
    [{ sub: 'u1', email: 'ada@example.com', name: 'Ada' }, 'ada@example.com (u1)'],
    [{ sub: 'u1', preferred_username: 'ada' }, 'ada (u1)'],
    [{ sub: 'u1', email: '' }, 'u1'],
    [{ sub: 'u\n1', name: 'A\u0000\u202eda' }, 'A da (u 1)'],
  ])('of %j is %s', (claims, actor) => {
    expect(actorOfClaims(claims)).toBe(actor)
  })

  it('stays short', () => {
    expect(actorOfClaims({ sub: 'x'.repeat(9_999), name: 'y'.repeat(9_999) }).length).toBeLessThan(210)
  })
})
