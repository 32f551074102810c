import { describe, expect, it } from 'vitest'
import { cookieValues, setCookie } from '#core/console/cookies.ts'

describe('cookies', () => {
  it('are found by their whole name, over all headers', () => {
    const headers = ['a=1; rg=2;rg=3', 'xrg=4; rgx=5; rg=6=7']
    expect(cookieValues(headers, 'rg')).toEqual(['2', '3', '6=7'])
  })

  it('are set for no script, for their path alone, and over https where there is https', () => {
    const settings = { path: '/admin', sameSite: 'Strict', isSecure: true, maxAgeSeconds: 60 } as const
    expect(setCookie('rg', 'x', settings)).toBe('rg=x; Path=/admin; Max-Age=60; HttpOnly; SameSite=Strict; Secure')
    expect(setCookie('rg', '', { ...settings, isSecure: false, maxAgeSeconds: 0 })).toBe(
      'rg=; Path=/admin; Max-Age=0; HttpOnly; SameSite=Strict',
    )
  })
})
