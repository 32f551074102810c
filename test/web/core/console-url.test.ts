import { describe, expect, it } from 'vitest'
import { ledgerUrl, tenantUrl, videoUrl } from '#web/core/console-url.ts'

describe('urls of pages', () => {
  it('hold any id, and no tenant where the session has one', () => {
    expect(videoUrl('a/b', 'x&y=z')).toBe('/console/videos/a%2Fb?tenant=x%26y%3Dz')
    expect(videoUrl('a')).toBe('/console/videos/a')
    expect(tenantUrl('../audit')).toBe('/console/tenants/..%2Faudit')
    expect(ledgerUrl('a b', 't')).toBe('/console/ledger?tenant=t&id=a+b')
  })
})
