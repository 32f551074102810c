import { describe, expect, it } from 'vitest'
import { consoleSite } from '#core/admin/console-site.ts'
import { noSessionCookie, sessionCookie } from '#lambdas/admin-api/sign-in/session-cookie.ts'
import { adminEvent } from '../../middleware/admin-exchange.ts'

const EVENT = adminEvent('GET', '/admin/v1/session')

describe('the cookie of a session', () => {
  it('is for no script, for the admin API alone, and never sent for another site', () => {
    const cookie = sessionCookie(EVENT, consoleSite('https://a.example'), { token: 't', maxAgeSeconds: 9 })
    expect(cookie).toBe('__Secure-rg_console=t; Path=/admin; Max-Age=9; HttpOnly; SameSite=Strict; Secure')
  })

  it('is removed under the name that it was set with', () => {
    expect(noSessionCookie(EVENT, consoleSite('loopback'))).toMatch(/^rg_console_8787=; Path=\/admin; Max-Age=0;/)
  })
})
