import { describe, expect, it } from 'vitest'
import { OIDC_PAGE_HEADERS, refusedPage, signedInPage } from '#core/console/oidc-page.ts'

describe('a page after an OpenID provider', () => {
  it('leads to the console by itself and by a link', () => {
    const page = signedInPage('/console/usage#page=a-b_c')
    expect(page).toContain('<meta http-equiv="refresh" content="0;url=/console/usage#page=a-b_c">')
    expect(page).toContain('<a href="/console/usage#page=a-b_c">')
  })

  it('shows what others wrote as text', () => {
    const page = refusedPage(['<script>alert(1)</script>', `"' onload=x & <b>`])
    expect(page).toContain('<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>')
    expect(page).toContain('<p>&quot;&#39; onload=x &amp; &lt;b&gt;</p>')
    expect(page).not.toContain('http-equiv="refresh"')
  })

  it('runs no script and stands in no frame', () => {
    expect(OIDC_PAGE_HEADERS['content-security-policy']).toBe(
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
  })
})
