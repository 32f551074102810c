import { describe, expect, it } from 'vitest'
import type { Access, Role } from '#core/console/admin-route.ts'
import { isDueToBeSeen, mayAccess, visibleHolder } from '#core/console/session.ts'

describe('session', () => {
  it.each<[Role, readonly Access[]]>([
    ['tenant', ['public', 'tenant']],
    ['viewer', ['public', 'tenant', 'viewer']],
    ['owner', ['public', 'tenant', 'viewer', 'owner']],
  ])('with the role %s may do %j and nothing else', (role, allowed) => {
    const all: readonly Access[] = ['public', 'tenant', 'viewer', 'owner']
    expect(all.filter((access) => mayAccess(role, access))).toEqual(allowed)
  })

  it('is due to be seen after five minutes', () => {
    expect(isDueToBeSeen({ seenAt: 1_000 }, 300_999)).toBe(false)
    expect(isDueToBeSeen({ seenAt: 1_000 }, 301_000)).toBe(true)
  })

  it('of an owner shows the sessions of everybody, and of others their own alone', () => {
    expect(visibleHolder({ role: 'owner', holder: 'a' })).toBeUndefined()
    expect(visibleHolder({ role: 'viewer', holder: 'a' })).toBe('a')
    expect(visibleHolder({ role: 'tenant', holder: 'a' })).toBe('a')
  })
})
