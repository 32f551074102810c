import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ConsoleHost } from './console-host.ts'
import { show } from './page-steps.ts'

let host: ConsoleHost

/** Lets every response of these paths be ten minutes old. */
async function age(page: Page, paths: string): Promise<void> {
  await page.route(paths, async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    await route.fulfill({ response, json: { ...body, as_of: body.as_of - 600 } })
  })
}

/** What needs a person, and pages of a summary that grows old. */
export function testOverview(shared: () => ConsoleHost): void {
  beforeAll(() => {
    host = shared()
  })

  describe('the overview', () => {
    it('names a tenant whose jobs fail, and shows requests and errors by minute as bars and as numbers', async () => {
      const page = await host.owner()
      await show(page, '/console')
      const matter = page.getByRole('link', { name: /^3 video jobs of Demo have failed since \d\d:00 UTC$/ })
      expect(await matter.getAttribute('href')).toBe('/console/videos?tenant=demo&status=failed')
      expect(await page.getByText(/^\d+ \/ \d+ ms$|^–$/).count()).toBeGreaterThan(0)
      const minutes = page.getByRole('region', { name: 'Requests by minute' }).first()
      expect(await minutes.getByRole('img').getAttribute('aria-label')).toMatch(
        /^\d+ requests? in 30 minutes, \d+ failed$/,
      )
      await minutes.getByText('Show as table').click()
      expect(await minutes.locator('tbody tr').count()).toBe(30)
    })
  })

  describe('a page over all tenants', () => {
    it.each(['/console', '/console/tenants', '/console/usage'])(
      '%s warns of a summary that is ten minutes old',
      async (path) => {
        const page = await host.owner()
        await show(page, path)
        expect(await page.getByText('minutes old').count()).toBe(0)
        await age(page, '**/admin/v1/*')
        await page.reload()
        await page
          .getByRole('status')
          .getByText(/These numbers are (9|10) minutes old/)
          .waitFor()
        await show(page, `${path}?tenant=demo`)
        expect(await page.getByText('minutes old').count()).toBe(path.endsWith('tenants') ? 1 : 0)
      },
    )
  })
}
