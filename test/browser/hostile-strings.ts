import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../e2e/video-api.ts'
import { type ClientJobs, HOSTILE } from './client-jobs.ts'
import type { ConsoleHost } from './console-host.ts'
import { loaded, show } from './page-steps.ts'
import type { SharedConsole } from './shared-console.ts'

let host: ConsoleHost
let jobs: ClientJobs

/**
 * Checks that the string stands on the page as it is, and that nothing in it became an element. `endTest` finds reports of the policy and
 * dialogs of scripts.
 */
async function checkInert(page: Page): Promise<void> {
  expect(await page.locator('body').innerText()).toContain('<script>alert(2)</script>')
  const made = page.locator('body script, img[src="x"], [onerror], a[href^="javascript" i]')
  expect(await made.evaluateAll((elements) => elements.map(({ outerHTML }) => outerHTML))).toEqual([])
}

/** Strings of clients and upstreams that try to become markup, scripts or formulas. */
export function testHostileStrings(shared: () => SharedConsole): void {
  describe('a hostile string', () => {
    beforeAll(() => {
      ;({ host, jobs } = shared())
    })

    it('stays a string on every page that shows names, notes, prompts, replies and callbacks of clients', async () => {
      const { tenant, api, id } = jobs.hostile
      await host.gateway.admin('tenant', 'adjust', '--tenant', tenant, '--amount', '-1', '--reason', HOSTILE)
      await eventually(
        () => api.send('GET', `/v1/video/generations/${id}/events`),
        ({ text }) => text.includes('"callback"'),
      )
      const page = await host.owner()
      const paths = ['', '/tenants', `/tenants/${tenant}`, '/keys', '/ledger', '/audit', `/videos/${id}`, '/webhooks']
      for (const path of paths) {
        await show(page, `/console${path}?tenant=${tenant}`)
        await page.locator('main details > summary').evaluateAll((summaries) => summaries.map((each) => each.click()))
        await checkInert(page)
      }
      await show(page, '/console/audit')
      await page.getByRole('row').filter({ hasText: 'tenant adjust' }).getByRole('button').last().click()
      await page.getByRole('dialog').waitFor()
      await checkInert(page)
    }, 60_000)

    it('stays small on the page of a job, however many values the upstream sends', async () => {
      const { tenant, id } = jobs.hostile
      const page = await host.owner()
      const reply = Array.from({ length: 20 }, () => Array.from({ length: 20 }, () => ['innermost']))
      await page.route('**/admin/v1/videos/*', async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, json: { ...(await response.json()), poll_reply: reply } })
      })
      await show(page, `/console/videos/${id}?tenant=${tenant}`)
      await page.getByText('Last reply to a poll').click()
      const closed = page.locator('.json-node:not([open])')
      expect(await closed.count()).toBe(400)
      expect(await page.getByText('innermost').count()).toBe(0)
      await closed.first().click()
      await page.getByText('innermost').waitFor()
    })

    it('stays a string in the playground, where the upstream says it back, and in the url', async () => {
      const { tenant } = jobs.hostile
      const page = await host.owner()
      const inUrl = encodeURIComponent(HOSTILE)
      await show(page, `/console/playground?tenant=${tenant}&kind=chat&model=${inUrl}&compare=${inUrl}`)
      await page.getByLabel('Message', { exact: true }).fill(HOSTILE)
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText('The reply is complete').waitFor({ state: 'attached' })
      expect(await page.locator('.message-assistant').innerText()).toContain('onerror=alert(1)')
      await page.getByRole('button', { name: 'Copy as code' }).click()
      await checkInert(page)

      host.browser.expectProblem(/status of 40[04]/)
      for (const path of [
        `/tenants/${inUrl}`,
        `/ledger?tenant=${tenant}&id=${inUrl}&kind=${inUrl}`,
        `/videos/${inUrl}`,
      ]) {
        await page.goto(`/console${path}`)
        await loaded(page)
        expect(await page.locator('img, body script').count()).toBe(0)
      }
    })

    it('is no formula in an exported table, which has the rows and the exact amounts of the page', async () => {
      const { tenant } = jobs.hostile
      const formula = '=HYPERLINK("http://127.0.0.1","click")'
      await host.gateway.admin('tenant', 'adjust', '--tenant', tenant, '--amount', '-0.000001', '--reason', formula)
      const page = await host.owner()
      await show(page, `/console/ledger?tenant=${tenant}&kind=adjust`)
      const shown = await page.locator('tbody tr').count()
      const downloading = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Export CSV' }).click()
      const download = await downloading
      expect(download.suggestedFilename()).toMatch(/^reelgate-ledger-[\w-]+-adjust-\d{4}-\d\d-\d\d\.csv$/)
      const [titles, ...lines] = readFileSync(await download.path(), 'utf8')
        .trimEnd()
        .split('\r\n')
      expect(titles).toMatch(/^Time,Kind,Job or request,Model,Key,.*Amount,.*Reason,/)
      expect(lines).toHaveLength(shown)
      expect(lines[0]).toMatch(/^20\d\d-\d\d-\d\dT[\d:.]+Z,adjust,/)
      expect(lines[0]).toContain(',-0.000001,')
      expect(lines[0]).toContain(`,"'=HYPERLINK(""http://127.0.0.1"",""click"")",`)
    })
  })
}
