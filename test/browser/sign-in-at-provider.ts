import { beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import type { RealProvider } from '../admin-api/sign-in/real-provider.ts'
import { accessibilityViolations, type ConsoleHost, signedIn } from './console-host.ts'

let host: ConsoleHost

/** Lines of a configuration in which a provider signs in `ada` as owner, `bob` as viewer, and `lea` for two tenants. */
export function providerConfig({ issuer }: RealProvider): string {
  const rules = [
    { name: 'owners', when: { groups: 'ada' }, role: 'owner' },
    { name: 'viewers', when: { groups: 'bob' }, role: 'viewer' },
    { name: 'leads', when: { groups: 'le*' }, role: 'tenant-admin', tenant: 'demo' },
    { name: 'guests', when: { groups: 'lea' }, role: 'tenant-viewer', tenant: 'Second' },
  ]
  return `\nconsole: { oidc: { issuer: "${issuer}", client_id: console, label: "Sign in with Acme", rules: ${JSON.stringify(rules)} } }\n`
}

/** Signs in on the provider's pages, from a page of the console. */
async function signInAtProvider(page: Page, user: string, path = '/console'): Promise<void> {
  host.browser.expectProblem(/another origin: /)
  // The provider's pages ask for a font.
  await page.route(/^https:/, (route) => route.fulfill({ contentType: 'text/css', body: '' }))
  await page.goto(path)
  await page.getByRole('link', { name: 'Sign in with Acme' }).click()
  await page.locator('input[name="login"]').fill(user)
  await page.locator('input[name="password"]').fill('any')
  await page.locator('button[type="submit"]').click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** Single sign-on. */
export function testSignInAtProvider(shared: () => { readonly host: ConsoleHost }): void {
  describe('a sign-in at an OpenID provider', () => {
    beforeAll(() => {
      host = shared().host
    })

    it('comes back with a Strict cookie that counts at once, to the page that was asked for', async () => {
      const page = await host.visitor()
      const callback = page.waitForResponse((response) => response.url().includes('/admin/v1/oidc/callback?'))
      await signInAtProvider(page, 'ada', '/console/usage')
      const received = await callback
      // A redirect would lose the cookie: the browser counts it to the provider's site.
      expect(received.status()).toBe(200)
      await signedIn(page)
      await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
      expect(page.url()).toBe(`${host.gateway.url}/console/usage`)
      await page.getByText('ada@example.com (ada)').waitFor()
      const [cookie] = await page.context().cookies(`${host.gateway.url}/admin/v1/session`)
      expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/admin' })
      await page.reload()
      await signedIn(page)
      await page.getByRole('link', { name: 'Sessions' }).click()
      await page.getByRole('row').filter({ hasText: 'single sign-on' }).filter({ hasText: 'this one' }).waitFor()
    })

    it('makes a group of viewers viewers, who change nothing', async () => {
      const page = await host.visitor()
      await signInAtProvider(page, 'bob')
      await signedIn(page)
      await page.getByText('viewer', { exact: true }).waitFor()
      await page.goto('/console/tenants/demo')
      await page.getByRole('heading', { level: 1, name: 'Demo' }).waitFor()
      expect(await page.getByRole('button', { name: /grant|correct|suspend/i }).count()).toBe(0)
    })

    it('switches between the tenants of a person, and shows nothing of the one before', async () => {
      await host.gateway.admin('tenant', 'create', '--name', 'Second', '--credits', '7')
      const page = await host.visitor()
      await signInAtProvider(page, 'lea', '/console/keys')
      await signedIn(page)
      await page.getByText('tenant-admin', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'New key' }).first().click()
      await page.getByText('At most 300. Ask an owner for more.').waitFor()
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('cell', { name: 'Demo' }).first().waitFor()
      await page.getByLabel('Tenant').selectOption({ label: 'Second (tenant-viewer)' })
      await page.getByText('tenant-viewer', { exact: true }).waitFor()
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      await page.getByRole('link', { name: 'Keys' }).click()
      await page.getByText('There is no key yet').waitFor()
      expect(await page.getByRole('button', { name: 'New key' }).count()).toBe(0)
      expect(await accessibilityViolations(page)).toEqual([])
      await page.getByRole('link', { name: 'Second' }).click()
      await page.getByRole('heading', { level: 1, name: 'Second' }).waitFor()
      await page.reload()
      await page.getByText('tenant-viewer', { exact: true }).waitFor()
    })

    it('says to a user without a role what the provider said, and signs nobody in', async () => {
      const page = await host.visitor()
      host.browser.expectProblem(/status of 403/)
      await signInAtProvider(page, '<img src=x onerror=alert(1)>')
      await page.getByRole('heading', { name: 'Not signed in' }).waitFor()
      expect(await page.locator('body').innerText()).toContain('<img src=x onerror=alert(1)>')
      expect(await page.locator('img').count()).toBe(0)
      // The policy of the page allows its style.
      expect(await page.evaluate('getComputedStyle(document.body).display')).toBe('grid')
      await page.getByRole('link', { name: 'Go to the console' }).click()
      await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor()
    })
  })
}
