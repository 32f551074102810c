import { beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../e2e/video-api.ts'
import type { ClientJobs } from './client-jobs.ts'
import type { ConsoleHost } from './console-host.ts'
import { confirm, playedSeconds, refuseFirst, show } from './page-steps.ts'
import type { SharedConsole } from './shared-console.ts'

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
    }, 60_000)

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
      await page.getByText('cancelled by the operator').first().waitFor({ timeout: 20_000 })
      expect(await page.getByRole('button', { name: /cancel|redrive/i }).count()).toBe(0)
      const { status, error } = await api.until(id, 'failed')
      expect({ status, error }).toEqual({ status: 'failed', error: 'cancelled by the operator' })
      const { available, held } = Object(await host.gateway.admin('tenant', 'show', '--tenant', tenant))
      expect({ available, held }).toEqual({ available: '19.3', held: '0' })
    }, 60_000)

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
