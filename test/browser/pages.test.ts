import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { makeTenant } from '#adapters/store/accounts/create-tenant.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { parseCredits } from '#core/money/money.ts'
import { type PastRequest, PastTraffic } from '../engines/past-traffic.ts'
import { TESTER } from '../engines/tester.ts'
import { accessibilityViolations } from './accessibility-violations.ts'
import { type ConsoleHost, signedIn, startConsoleHost } from './console-host.ts'
import { show } from './page-steps.ts'

const PAGES = [
  '',
  '/usage',
  '/videos',
  '/playground',
  '/webhooks',
  '/ledger',
  '/keys',
  '/tenants',
  '/channels',
  '/audit',
  '/sessions',
]

const CHAT: PastRequest = {
  operation: 'create-chat-completion',
  model: 'chat-default',
  channel: 'openai-main',
  amount: parseCredits('0.25'),
  usage: { inputTokens: 200, outputTokens: 500 },
}

const LOOKS = [
  { colorScheme: 'light', size: { width: 1280, height: 800 } },
  { colorScheme: 'dark', size: { width: 1280, height: 800 } },
  { colorScheme: 'dark', size: { width: 390, height: 844 } },
] as const

/** Some ten seconds; a machine that does other work takes longer. */
const LOADED_MACHINE_MILLISECONDS = 180_000

async function writePast(table: Table): Promise<void> {
  await makeTenant(table, { id: 'demo', name: 'Demo', credits: parseCredits('100') }, TESTER)
  const traffic = new PastTraffic(table)
  const day = 24 * 60 * 60
  const now = Math.trunc(Date.now() / 1000)
  const key = await traffic.key('demo', { name: 'search', createdAt: now - 9 * day })
  for (let before = 8; before >= 0; before -= 1) {
    const requests = Array.from({ length: 8 }, () => CHAT)
    await traffic.requests(key, (now - before * day - 60) * 1000, requests)
  }
}

let host: ConsoleHost
beforeAll(async () => {
  host = await startConsoleHost({ writePast })
})
afterAll(() => host.close())
afterEach(() => host.browser.endTest())

const tenantPath = (path: string) => `/console${path}?tenant=demo`

describe('every page of the console', () => {
  it(
    'loads without a problem, meets WCAG 2.2 AA in both themes and on a phone, where only tables scroll sideways',
    async () => {
      // A change of the theme would fade, and a colour in between may lack contrast.
      const page = await host.owner({ reducedMotion: 'reduce' })
      const titles = new Set<string>()
      for (const path of PAGES) {
        await show(page, tenantPath(path))
        expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
        titles.add(await page.title())
        for (const look of LOOKS) {
          await page.emulateMedia({ colorScheme: look.colorScheme })
          await page.setViewportSize(look.size)
          expect([path, look, await accessibilityViolations(page)]).toEqual([path, look, []])
          const width = await page.evaluate('document.documentElement.scrollWidth')
          expect([path, look, Number(width) <= look.size.width]).toEqual([path, look, true])
        }
      }
      expect(titles.size).toBe(PAGES.length)
    },
    LOADED_MACHINE_MILLISECONDS,
  )

  it('keeps its filters over a reload and in a link', async () => {
    const page = await host.owner()
    await show(page, tenantPath('/ledger'))
    const rows = page.locator('tbody tr')
    await rows.first().waitFor()
    await page.getByLabel('Kind').selectOption('grant')
    await page.waitForURL(/kind=grant/)
    await page.reload()
    await signedIn(page)
    expect(await page.getByLabel('Kind').inputValue()).toBe('grant')
    await rows.first().waitFor()
    expect(await rows.count()).toBe(1)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.waitForURL((url) => !url.search.includes('kind'))
  })

  it('says that the gateway does not respond, and what failed with its request id, and goes on by itself', async () => {
    const page = await host.owner()
    await show(page, tenantPath('/ledger'))
    await page.route('**/admin/v1/audit*', (route) =>
      route.fulfill({
        status: 500,
        contentType: 'application/json',
        headers: { 'x-request-id': 'request-of-the-failure' },
        body: JSON.stringify({
          error: { message: 'something went wrong', type: 'server_error', code: null, param: null },
        }),
      }),
    )
    host.browser.expectProblem(/status of 500/)
    await page.getByRole('link', { name: 'Audit' }).click()
    await page.getByRole('alert').getByText('request-of-the-failure').waitFor()
    await page.unroute('**/admin/v1/audit*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('tbody tr').first().waitFor()

    host.browser.expectProblem(/request failed|ERR_INTERNET_DISCONNECTED/)
    await page.context().setOffline(true)
    await page.getByRole('link', { name: 'Ledger' }).click()
    await page.getByText('The gateway does not respond').waitFor()
    await page.context().setOffline(false)
    await page.getByText('The gateway does not respond').waitFor({ state: 'detached', timeout: 20_000 })
  })

  it('is reached by the keyboard: a skip link, focus on the title, a dialog that gives the focus back', async () => {
    const page = await host.owner()
    await show(page, tenantPath('/ledger'))
    await page.evaluate('document.activeElement?.blur()')
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').innerText()).toBe('Skip to the content')
    await page.keyboard.press('g')
    await page.keyboard.press('k')
    await page.waitForURL(/\/console\/keys/)
    await page.locator('h1:focus').waitFor()
    const opener = page.getByRole('button', { name: /new key|create/i }).first()
    await opener.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await opener.evaluate((element: { matches(selector: string): boolean }) => element.matches(':focus'))).toBe(
      true,
    )
  })
})
