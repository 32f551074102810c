import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { eventually } from '../e2e/video-client.ts'
import {
  type ClientJobs,
  type ConsoleHost,
  confirm,
  HOSTILE,
  loaded,
  playedSeconds,
  refuseFirst,
  type SharedConsole,
  show,
} from './console-host.ts'

let host: ConsoleHost
let receiver: SharedConsole['receiver']
let jobs: ClientJobs

/** The page of a video job. */
export function testJobPages(shared: () => SharedConsole): void {
  describe('the page of a video job', () => {
    beforeAll(() => {
      ;({ host, receiver, jobs } = shared())
    })

    it('plays the video beside its timeline, receipt and replies, sends the callback again, and deletes the job', async () => {
      const { tenant, key, api, id } = jobs.paid
      const events = () => api.send('GET', `/v1/video/generations/${id}/events`)
      await eventually(events, ({ text }) => text.includes('"callback"'))

      const client = await host.withKey(key)
      host.browser.expectProblem(/status of 403 .*\.mp4/)
      await refuseFirst(client, '**/v/**', 403)
      await show(client, `/console/videos/${id}`)
      await client.getByText('The video cannot be loaded').waitFor()
      await client.getByRole('button', { name: 'Try again' }).click()
      expect(await client.locator('video').evaluate(playedSeconds)).toBeGreaterThan(0)
      expect(await client.getByRole('button', { name: /delete|cancel|again|redrive/i }).count()).toBe(0)

      const page = await host.owner()
      await show(page, `/console/videos?tenant=${tenant}`)
      const row = page.getByRole('row').filter({ hasText: 'a paper city' })
      await row.waitFor()
      const poster = row.locator('video')
      await poster.waitFor()
      await page.waitForFunction((video) => video.readyState >= 2, Object(await poster.elementHandle()))
      await show(page, `/console/videos/${id}?tenant=${tenant}`)
      expect(await page.locator('video').evaluate(playedSeconds)).toBeGreaterThan(0)
      const timeline = await page.getByLabel('Timeline').getByRole('listitem').allInnerTexts()
      const words = timeline.map((item) => /^\w+/.exec(item)?.[0])
      expect(words.filter((word) => word !== 'progress')).toEqual([
        'queued',
        'submitted',
        'processing',
        'finished',
        'stored',
        'settled',
        'succeeded',
        'callback',
      ])
      expect(await page.getByLabel('Receipt').locator('tfoot data').getAttribute('value')).toBe('0.7')
      await page.getByText('Request', { exact: true }).last().click()
      await page.getByText('"a paper city"').first().waitFor()
      await page.getByText('Last reply to a poll').click()
      await page.getByText('"SUCCEEDED"').waitFor()

      const attempts = page.getByLabel('Callbacks').getByRole('listitem')
      expect(await attempts.count()).toBe(1)
      await page.getByRole('button', { name: 'Send the callback again' }).click()
      await confirm(page, 'Send the callback again')
      await attempts.nth(1).getByText('delivered').waitFor()
      const [first, second] = receiver.received.filter(({ body }) => body.includes(id))
      expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
      expect(second?.body).toBe(first?.body)

      await page.getByRole('button', { name: 'Delete' }).click()
      await confirm(page, 'Delete')
      await page.waitForURL(/\/console\/videos\?tenant=/)
      await page.getByText('There is no video yet').waitFor()
      expect((await api.get(id)).status).toBe(404)
    })

    it('follows an open job, and cancels it so that nothing is billed', async () => {
      const { tenant, api } = jobs.paid
      const created = await api.create({ model: 'famB-1.1-t2v', prompt: '[forever] a paper city' })
      const id = String(created.json.id)
      const page = await host.owner()
      await show(page, `/console/videos?tenant=${tenant}`)
      await page.locator(`tbody a[href*="${id}"]`).click()
      await page.waitForURL(new RegExp(id))
      await page.getByLabel('Timeline').getByText('processing').waitFor()
      await page.getByRole('button', { name: 'Cancel the job' }).click()
      await page.getByText(/its reservation of 0\.70? credits is released/).waitFor()
      await confirm(page, 'Cancel the job')
      await page.getByText('cancelled by the operator').first().waitFor({ timeout: 120_000 })
      expect(await page.getByRole('button', { name: /cancel|redrive/i }).count()).toBe(0)
      const { status, error } = await api.until(id, 'failed')
      expect({ status, error }).toEqual({ status: 'failed', error: 'cancelled by the operator' })
      const { available, held } = Object(await host.gateway.admin('tenant', 'show', '--tenant', tenant))
      expect({ available, held }).toEqual({ available: '19.3', held: '0' })

      await show(page, `/console/videos?tenant=${tenant}`)
      await page.getByLabel('Status').selectOption('cancelled')
      await page.waitForURL(/status=cancelled/)
      const row = page.locator('tbody tr')
      await row.getByText('[forever] a paper city').waitFor()
      expect(await row.count()).toBe(1)
      await row.getByText('cancelled', { exact: true }).waitFor()
    })

    it('says why a job failed, in the list by its status too', async () => {
      const { tenant, api, id } = jobs.failed
      const { error } = await api.until(id, 'failed')
      const page = await host.owner()
      await show(page, `/console/videos?tenant=${tenant}&status=failed`)
      await page.locator(`tbody a[href*="${id}"]`).click()
      await page.waitForURL(new RegExp(id))
      await page.getByText(String(error)).first().waitFor()
      expect(await page.locator('video').count()).toBe(0)
      await page.getByLabel('Timeline').getByText('failed').waitFor()
    })
  })
}

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
    })

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
