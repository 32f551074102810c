import { describe, expect, it } from 'vitest'
import { actorOf, sessionOf } from '#middleware/admin-event.ts'
import { MiddlewareOrderError } from '#middleware/api-event.ts'
import { adminEvent } from './admin-exchange.ts'
import { REQUEST_ID } from './api-exchange.ts'

const SESSION = {
  id: 's',
  kind: 'admin_key',
  actor: 'ada',
  role: 'viewer',
  tenant: null,
  keyId: 'k',
  holder: 'k',
  createdAt: 0,
  seenAt: 0,
  expiresAt: 1,
} as const

describe('an event of the admin API', () => {
  it('names its user for the audit log, with the request', () => {
    const event = { ...adminEvent('GET', '/admin/v1/session'), session: SESSION }
    expect(sessionOf(event)).toBe(SESSION)
    expect(actorOf(event)).toEqual({ name: 'ada', role: 'viewer', requestId: REQUEST_ID })
  })

  it('without a session is a fault of the handler', () => {
    expect(() => sessionOf(adminEvent('GET', '/admin/v1/session'))).toThrow(MiddlewareOrderError)
  })
})
