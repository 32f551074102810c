import { afterEach, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { useOpened } from '../engines/use-opened.ts'
import {
  accessibilityViolations,
  confirm,
  cutContents,
  loaded,
  reloadUntil,
  show,
  startConsoleHost,
} from './console-host.ts'
import { testOverview, writePastDays } from './overview.ts'

/** Pages without a job of their own; `query` besides the tenant. */
const PAGES: readonly (readonly [path: string, query?: string])[] = [
  [''],
  ['/usage'],
  ['/videos'],
  ['/playground'],
  ['/playground', '&kind=chat'],
  ['/playground', '&kind=image'],
  ['/webhooks'],
  ['/requests'],
  ['/ledger'],
  ['/keys'],
  ['/tenants'],
  ['/tenants/demo'],
  ['/channels'],
  ['/audit'],
  ['/sessions'],
  ['/no-such-page'],
]

type Look = {
  readonly colorScheme: 'light' | 'dark'
  readonly size: { readonly width: number; readonly height: number }
}

const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }

/** Both themes, a desktop and a phone. */
const MAIN_LOOKS: readonly Look[] = [
  { colorScheme: 'light', size: DESKTOP },
  { colorScheme: 'dark', size: PHONE },
]

const ALL_LOOKS: readonly Look[] = [DESKTOP, PHONE].flatMap((size) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ colorScheme, size })),
)

/** The navigation, which a phone hides, is the same on all pages. */
const LOOKS_OF_FIRST: readonly Look[] = [...MAIN_LOOKS, { colorScheme: 'dark', size: DESKTOP }]

/** Some ten seconds; a machine that does other work takes longer. */
const LOADED_MACHINE_MILLISECONDS = 180_000

const host = useOpened(() => startConsoleHost({ writePast: writePastDays }))
afterEach(() => host.browser.endTest())

const tenantPath = (path: string, query = '') => `/console${path}?tenant=demo${query}`

/** A script that resolves when the page has taken a look over. */
const taken = ({ colorScheme, size }: Look) => `new Promise((resolve) => {
  const isTaken = () => innerWidth === ${size.width} && matchMedia('(prefers-color-scheme: ${colorScheme})').matches
  const look = () => (isTaken() ? resolve() : requestAnimationFrame(look))
  look()
})`

async function takeLook(page: Page, look: Look): Promise<void> {
  await page.emulateMedia({ colorScheme: look.colorScheme })
  await page.setViewportSize(look.size)
  await page.evaluate(taken(look))
}

/** Checks the present page: that nothing is cut in any look, and WCAG in these. */
async function checkLooks(page: Page, path: string, looks: readonly Look[] = MAIN_LOOKS): Promise<void> {
  expect([path, await page.getByRole('heading', { level: 1 }).count()]).toEqual([path, 1])
  for (const look of looks) {
    await takeLook(page, look)
    expect([path, look, await accessibilityViolations(page)]).toEqual([path, look, []])
  }
  for (const look of ALL_LOOKS) {
    await takeLook(page, look)
    expect([path, look, await cutContents(page)]).toEqual([path, look, []])
  }
}

/** Filters of pages: what a person chooses, and what then stands in the url. */
const FILTERS: readonly {
  readonly path: string
  readonly choose: (page: Page) => Promise<unknown>
  readonly inUrl: RegExp
  /** How many rows the filter leaves. */
  readonly rows: number
}[] = [
  {
    path: '/ledger',
    choose: (page) => page.getByLabel('Kind').selectOption('grant'),
    inUrl: /[?&]kind=grant/,
    rows: 1,
  },
  {
    path: '/videos',
    choose: (page) => page.getByLabel('Status').selectOption('failed'),
    inUrl: /[?&]status=failed/,
    rows: 1,
  },
  {
    path: '/usage',
    choose: (page) => page.getByLabel('Group by').selectOption('operation'),
    inUrl: /[?&]by=operation/,
    rows: 2,
  },
  {
    path: '/audit',
    choose: async (page) => {
      await page.getByLabel('Action').fill('tenant create')
      await page.keyboard.press('Enter')
    },
    inUrl: /[?&]action=tenant(\+|%20)create/,
    rows: 1,
  },
]

testOverview(() => host)

describe('every page of the console', () => {
  it(
    'loads without a problem, meets WCAG 2.2 AA in both themes and on a phone, and cuts nothing at either width',
    async () => {
      const job = host.gateway.api.create({ model: 'famB-1.1-t2v', prompt: 'a paper city' })
      const page = await host.owner()
      const titles = new Set<string>()
      for (const [path, query] of PAGES) {
        await show(page, tenantPath(path, query))
        await checkLooks(page, tenantPath(path, query), path === '' ? LOOKS_OF_FIRST : MAIN_LOOKS)
        titles.add(await page.title())
      }
      expect(titles.size).toBe(new Set(PAGES.map(([path]) => path)).size)
      const { id } = (await job).json
      await host.gateway.api.until(String(id), 'succeeded')
      await show(page, tenantPath(`/videos/${id}`))
      await page.locator('video').waitFor()
      await page.locator('main details > summary').evaluateAll((summaries) => summaries.map((each) => each.click()))
      await checkLooks(page, '/videos/{job_id}')
    },
    LOADED_MACHINE_MILLISECONDS,
  )

  it.each(FILTERS)('keeps the filter of $path over a reload and in a link', async ({ path, choose, inUrl, rows }) => {
    const page = await host.owner()
    await show(page, tenantPath(path))
    await choose(page)
    await page.waitForURL(inUrl)
    const link = page.url()
    await page.reload()
    expect(page.url()).toBe(link)
    await loaded(page)
    await page.locator('table').last().locator('tbody tr').first().waitFor()
    expect(await page.locator('table').last().locator('tbody tr').count()).toBe(rows)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.waitForURL((url) => !inUrl.test(url.search))
  })

  it('draws the chart of the usage in a browser whose locale is no language tag', async () => {
    const page = await host.newOwner()
    await page.addInitScript("Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })")
    await show(page, tenantPath('/usage'))
    await page.locator('.chart canvas').waitFor()
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
    await page.getByText('The gateway does not respond').waitFor({ state: 'detached', timeout: 120_000 })
  })

  it('loads a page after a lost network, and after a deployment that has renamed its file', async () => {
    const page = await host.newOwner()
    await show(page, '/console')
    host.browser.expectProblem(/request failed|ERR_INTERNET_DISCONNECTED/)
    await page.context().setOffline(true)
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByText('The gateway does not respond').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()

    const other = await host.newOwner()
    await show(other, '/console')
    host.browser.expectProblem(/status of 404 .*channels-page/)
    let isOld = true
    await other.route('**/channels-page*.js', (route) => (isOld ? route.fulfill({ status: 404 }) : route.continue()))
    await other.route('**/console/channels', (route) => {
      isOld = route.request().method() === 'HEAD'
      return route.continue()
    })
    await other.getByRole('link', { name: 'Channels' }).click()
    await other.getByRole('heading', { level: 1, name: 'Channels and models' }).waitFor()
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

  it('of keys shows the rule and the issuer of a subject, who is revoked and restored and has no key to rotate', async () => {
    const page = await host.owner()
    await show(page, tenantPath('/keys'))
    const row = page.getByRole('row').filter({ hasText: 'repo:acme/app' })
    await row.getByText('by rule ci of https://token.example.com').waitFor()
    expect(await row.getByRole('button', { name: 'Rotate' }).count()).toBe(0)
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page
      .getByRole('dialog')
      .getByLabel(/to confirm/)
      .fill('repo:acme/app')
    await confirm(page, 'Revoke the key')
    await row.getByText('revoked').waitFor()
    await row.getByRole('button', { name: 'Restore' }).click()
    await confirm(page, 'Restore the key')
    await row.getByText('active').waitFor()
  })

  // The last one, because it creates a second tenant.
  it('of one tenant chooses the only one, and where there are several the one that was looked at last', async () => {
    const page = await host.owner()
    await show(page, '/console/ledger')
    await page.waitForURL(/[?&]tenant=demo/)
    await show(page, '/console/keys')
    await page.getByRole('button', { name: 'New key', disabled: false }).first().click()
    await page.getByRole('dialog').getByLabel('Name').waitFor()
    await host.gateway.admin('tenant', 'create', '--name', 'Second', '--credits', '5')
    await show(page, '/console/videos')
    await reloadUntil(page, page.getByLabel('Tenant'))
    await show(page, '/console/ledger')
    await page.waitForURL(/[?&]tenant=demo/)
    await page.getByLabel('Tenant').selectOption('')
    await page.getByText('Jobs and ledgers are stored by tenant').waitFor()
    await page.reload()
    await page.getByText('Jobs and ledgers are stored by tenant').waitFor()
  })
})
