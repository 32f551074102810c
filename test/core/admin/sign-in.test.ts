import { createHash } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { actorOfClaims, givenByRules, OIDC_PAGE_HEADERS, refusedPage, signedInPage } from '#core/admin/sign-in.ts'
import { addressOfSignIn } from '#core/admin/sign-in-address.ts'
import type { Claims } from '#core/claims.ts'

const RULES = [
  { name: 'readers', when: { 'cognito:groups': ['readers', 'admins'] }, role: 'viewer' as const },
  { name: 'admins', when: { 'cognito:groups': 'admins' }, role: 'owner' as const },
  { name: 'leads', when: { '/org/team': 'leads-*' }, role: 'tenant-admin' as const, tenant: 'acme' },
  { name: 'staff', when: { email: '*@example.com' }, role: 'tenant-viewer' as const, tenant: 'acme' },
]
const given = (claims: Claims) => givenByRules(claims, { rules: RULES }).map(({ role, tenant }) => [role, tenant])

describe('givenByRules', () => {
  it.each([
    [['admins'], [['owner', null]]],
    ['readers', [['viewer', null]]],
    [['readers', 'admins'], [['owner', null]]],
    [['Admins'], []],
    [[], []],
    [undefined, []],
    [{ 0: 'admins', length: 1 }, []],
  ])('of the groups %j is %j', (groups, roles) => {
    expect(given({ 'cognito:groups': groups })).toEqual(roles)
  })

  it('reads no other claim', () => {
    expect(given({ groups: ['admins'], role: 'owner', team: 'leads-a' })).toEqual([])
  })

  it('gives what may most for all tenants and for each tenant', () => {
    const claims = {
      'cognito:groups': 'readers',
      org: { team: 'leads-a' },
      email: 'a@example.com',
      email_verified: true,
    }
    expect(given(claims)).toEqual([
      ['viewer', null],
      ['tenant-admin', 'acme'],
    ])
  })

  it.each([
    [true, [['tenant-viewer', 'acme']]],
    ['true', [['tenant-viewer', 'acme']]],
    [false, []],
    ['false', []],
    ['', []],
    [1, []],
    [undefined, []],
  ])('by the email address, with email_verified %j, is %j', (verified, roles) => {
    expect(given({ email: 'ada@example.com', email_verified: verified })).toEqual(roles)
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

describe('signedInPage and refusedPage', () => {
  it('lead to the console by themselves and by a link', () => {
    const page = signedInPage('/console/usage#page=a-b_c')
    expect(page).toContain('<meta http-equiv="refresh" content="0;url=/console/usage#page=a-b_c">')
    expect(page).toContain('<a href="/console/usage#page=a-b_c">')
  })

  it('show what others wrote as text', () => {
    const page = refusedPage(['<script>alert(1)</script>', `"' onload=x & <b>`])
    expect(page).toContain('<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>')
    expect(page).toContain('<p>&quot;&#39; onload=x &amp; &lt;b&gt;</p>')
    expect(page).not.toContain('http-equiv="refresh"')
  })

  it('run no script and stand in no frame', () => {
    const [, style = ''] = /<style>(.*)<\/style>/.exec(refusedPage([])) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    expect(OIDC_PAGE_HEADERS['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
  })
})

describe('addressOfSignIn', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8:0000:0001:ffff:ffff:ffff:ffff', '2001:db8:0:1::/64'],
    ['2001:db8:0:1::2', '2001:db8:0:1::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['', ''],
  ])('counts %s as %s', (address, counted) => {
    expect(addressOfSignIn(address)).toBe(counted)
  })

  it('never grows with what is no address', () => {
    expect(addressOfSignIn('x'.repeat(10_000))).toHaveLength(64)
    expect(addressOfSignIn(':'.repeat(10_000)).length).toBeLessThan(64)
  })
})
