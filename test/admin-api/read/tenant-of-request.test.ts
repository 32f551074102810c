import { describe, expect, it } from 'vitest'
import { ForbiddenError } from '#core/admin/errors.ts'
import type { Session } from '#core/admin/session.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { allowedTenant, visibleRow } from '#lambdas/admin-api/read/tenant-of-request.ts'

const session = (changes: Partial<Session>): Session => ({
  id: 's',
  kind: 'admin_key',
  actor: 'ada',
  role: 'viewer',
  tenant: null,
  keyId: null,
  holder: 'ada',
  createdAt: 0,
  seenAt: 0,
  expiresAt: 1,
  ...changes,
})
const key = session({ role: 'tenant', kind: 'api_key', tenant: { id: 'acme', name: 'Acme' } })

describe('allowedTenant', () => {
  it('is the one that an admin asks for, and none if none is asked for', () => {
    expect(allowedTenant(session({}), 'acme')).toBe('acme')
    expect(allowedTenant(session({ role: 'owner' }), undefined)).toBeUndefined()
  })

  it('is the own one of an API key, asked for or not', () => {
    expect([allowedTenant(key, undefined), allowedTenant(key, 'acme')]).toEqual(['acme', 'acme'])
  })

  it('is never another one for an API key, even without a tenant in its session', () => {
    expect(() => allowedTenant(key, 'other')).toThrow(ForbiddenError)
    expect(() => allowedTenant(key, '')).toThrow(ForbiddenError)
    expect(() => allowedTenant(session({ role: 'tenant' }), 'acme')).toThrow(ForbiddenError)
    expect(() => allowedTenant(session({ role: 'tenant' }), undefined)).toThrow(ForbiddenError)
  })

  it('is no id that the table could not have', () => {
    expect(() => allowedTenant(session({}), '')).toThrow(InvalidRequestError)
    expect(() => allowedTenant(session({}), 'x'.repeat(2_000))).toThrow(InvalidRequestError)
  })
})

describe('visibleRow', () => {
  it('has the channel for operators alone', () => {
    const row = { id: 'j', channel: 'p1-main' }
    expect([visibleRow(session({}), row), visibleRow(session({ role: 'owner' }), row)]).toEqual([row, row])
    expect(visibleRow(key, row)).toEqual({ id: 'j', channel: null })
  })

  it('has the notes of operators for operators alone', () => {
    const row = { id: 'g', channel: null, reason: 'disputes every bill' }
    expect(visibleRow(session({ role: 'viewer' }), row)).toEqual(row)
    expect(visibleRow(key, row)).toEqual({ ...row, reason: null })
  })
})
