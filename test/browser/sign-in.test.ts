import { createServer } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { mayAccess } from '#core/roles.ts'
import { ALL_ADMIN_ROUTES } from '#lambdas/admin/routes.ts'
import { type RealProvider, startRealProvider } from '../admin-api/sign-in/real-provider.ts'
import {
  accessibilityViolations,
  type ConsoleHost,
  DEMO_KEY,
  signedIn,
  startConsoleHost,
  typeKey,
} from './console-host.ts'
import { providerConfig, testSignInAtProvider } from './sign-in-at-provider.ts'

/** Ten are refused. The clock may begin another minute once between them. */
const FAILURES_MAX = 22

let provider: RealProvider
let host: ConsoleHost
beforeAll(async () => {
  // The provider ignores the port of a redirect address on loopback (RFC 8252, section 7.3).
  provider = await startRealProvider('http://127.0.0.1/admin/v1/oidc/callback')
  host = await startConsoleHost({ changeConfig: (yaml) => yaml + providerConfig(provider) })
})
afterAll(async () => {
  await host.close()
  await provider.stop()
})
afterEach(() => host.browser.endTest())

/** What the admin API answers to a script of the page, which sends what the console sends. */
async function statusOf(page: Page, method: string, path: string, body?: object): Promise<number> {
  const secret: string | null = await page.evaluate(
    `Object.values(localStorage).find((each) => each.length > 20) ?? ''`,
  )
  const headers = { 'x-reelgate-console': '1', 'x-reelgate-page': secret, 'content-type': 'application/json' }
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  return page.evaluate(`fetch(${JSON.stringify(path)}, ${JSON.stringify(init)}).then(({ status }) => status)`)
}

testSignInAtProvider(() => ({ host, provider }))

describe('signing in to the console', () => {
  it('takes a link once, out of the address bar, and keeps the session over a reload', async () => {
    const link = await host.link()
    const page = await host.visitor()
    await page.goto(link)
    await signedIn(page)
    expect(page.url()).toBe(`${host.gateway.url}/console`)
    await page.reload()
    await signedIn(page)
    const [cookie] = await page.context().cookies(`${host.gateway.url}/admin/v1/session`)
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/admin' })
    expect(await page.evaluate('document.cookie')).toBe('')

    const other = await host.visitor()
    host.browser.expectProblem(/status of 401/)
    await other.goto(link)
    await other.getByRole('alert').getByText('The sign-in link did not work').waitFor()
  })

  it('takes an admin key, and shows what a role may see', async () => {
    const owner = await host.withKey(await host.adminKey('owner'))
    await owner.getByRole('link', { name: 'Tenants' }).waitFor()
    const viewer = await host.withKey(await host.adminKey('viewer'))
    await viewer.getByText('viewer', { exact: true }).waitFor()
    await viewer.getByRole('button', { name: 'Sign out' }).click()
    await viewer.getByRole('heading', { name: 'Sign in to the console' }).waitFor()
    host.browser.expectProblem(/status of 401/)
    expect(await statusOf(viewer, 'GET', '/admin/v1/tenants')).toBe(401)
  })

  it('says that a wrong key does not sign in, in both themes without a fault of accessibility', async () => {
    const page = await host.visitor()
    const checkBothThemes = async () => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        expect([colorScheme, await accessibilityViolations(page)]).toEqual([colorScheme, []])
      }
    }
    await page.goto('/console')
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor()
    await checkBothThemes()
    host.browser.expectProblem(/status of 401/)
    await typeKey(page, 'rg_admin_wrong')
    await page.getByText('This key does not sign in').waitFor()
    await checkBothThemes()
  })

  it('shows an API key its own tenant alone, and refuses every route of admins', async () => {
    const other = Object(await host.gateway.admin('tenant', 'create', '--name', 'Other', '--credits', '5')).id
    const page = await host.withKey(DEMO_KEY)
    await page.getByText('Demo', { exact: true }).first().waitFor()
    expect(await page.getByRole('link', { name: 'Tenants' }).count()).toBe(0)
    host.browser.expectProblem(/status of 403/)
    const routes = Object.values(ALL_ADMIN_ROUTES).filter(({ access }) => !mayAccess('tenant', access))
    expect(routes.length).toBeGreaterThan(20)
    for (const { method, path } of routes) {
      const url = path.replace(/\{\w+\}/g, other)
      expect([url, method, await statusOf(page, method, url, method === 'GET' ? undefined : {})]).toEqual([
        url,
        method,
        403,
      ])
    }
  })

  it('refuses an API key the pages of another tenant', async () => {
    const other = Object(await host.gateway.admin('tenant', 'create', '--name', 'Another', '--credits', '5')).id
    const page = await host.withKey(DEMO_KEY)
    host.browser.expectProblem(/status of 403/)
    for (const path of ['usage', 'videos', 'ledger', 'webhooks', `tenants/${other}`]) {
      const status = await statusOf(page, 'GET', `/admin/v1/${path}${path.includes('/') ? '' : `?tenant=${other}`}`)
      expect([path, status]).toEqual([path, 403])
    }
  })

  it('lets no page of another origin use the session, not even one on another port of the same host', async () => {
    const page = await host.newOwner()
    const forged = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Another site</title>')
    })
    await new Promise<void>((resolve) => forged.listen(0, '127.0.0.1', () => resolve()))
    const address = forged.address()
    const port = typeof address === 'object' ? address?.port : ''
    const attacker = await page.context().newPage()
    for (const site of [`http://127.0.0.1:${port}`, `http://localhost:${port}`]) {
      await attacker.goto(site)
      for (const mode of ['cors', 'no-cors']) {
        const forge = `fetch('${host.gateway.url}/admin/v1/tenants', { method: 'POST', mode: '${mode}', credentials: 'include',
          headers: { 'content-type': 'text/plain' }, body: '{"name":"Forged"}' }).then(({ type }) => type, () => 'refused')`
        expect(['refused', 'opaque']).toContain(await attacker.evaluate(forge))
      }
      await attacker.evaluate(
        `fetch('${host.gateway.url}/admin/v1/session', { method: 'DELETE', credentials: 'include' }).catch(() => {})`,
      )
    }
    await attacker.evaluate(`location.href = '${host.gateway.url}/console#page=${'x'.repeat(43)}'`)
    await signedIn(attacker)
    forged.closeAllConnections()
    forged.close()
    await page.reload()
    await signedIn(page)
    expect(JSON.stringify(await host.gateway.admin('tenant', 'list'))).not.toContain('Forged')
  })

  // The last one, because all tests come from one address.
  it('says how long to wait after ten failures of a minute', async () => {
    const page = await host.visitor()
    await page.goto('/console')
    host.browser.expectProblem(/status of 401/)
    host.browser.expectProblem(/status of 429/)
    const wait = page.getByText('Too many failed sign-ins')
    for (let attempt = 0; attempt < FAILURES_MAX && (await wait.count()) === 0; attempt += 1) {
      const answered = page.waitForResponse((response) => response.url().endsWith('/admin/v1/session'))
      await typeKey(page, `rg_admin_wrong${attempt}`)
      await answered
    }
    await wait.waitFor()
  })
})
