import { join } from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import type { VideoModel } from '#core/catalogue/model.ts'
import { limitsOf } from '#core/identity.ts'
import { parseCredits } from '#core/money.ts'
import { countFailedJob } from '#store/jobs/failed-jobs.ts'
import { admitSubject, digestOfSubject } from '#store/keys/subject-keys.ts'
import type { Table } from '#store/table/table.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { isoTime, unixSecondsOf } from '#web/core/time.ts'
import { loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import { REPOSITORY } from '../e2e/child-environment.ts'
import { type PastRequest, PastTraffic, type PastVideo } from '../engines/past-traffic.ts'
import { TESTER } from '../engines/video-jobs.ts'
import { type ConsoleHost, show } from './console-host.ts'

let host: ConsoleHost

/** Lets every response of these paths be ten minutes old. */
async function age(page: Page, paths: string): Promise<void> {
  await page.route(paths, async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    const asOf = unixSecondsOf(body.as_of) - 600
    const old = typeof body.as_of === 'string' ? isoTime(asOf) : asOf
    await route.fulfill({ response, json: { ...body, as_of: old } })
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
      expect(await minutes.locator('.bar-axis span').allInnerTexts()).toHaveLength(3)
      const spend = page.getByRole('region', { name: 'Spend by day' }).first()
      expect(await spend.locator('.bar-axis span').allInnerTexts()).toEqual(['2', '1', '0'])
      await spend.locator('.bar-plot svg').hover()
      expect(await spend.locator('.chart-tip').innerText()).toMatch(
        /^\d{4}-\d\d-\d\d: \d+\.\d+ credits, \d+ requests?$/,
      )
      await minutes.getByText('Show as table').click()
      expect(await minutes.locator('tbody tr').count()).toBe(30)
    })
  })

  describe('the usage', () => {
    it('names keys, and says what each cost on the day under the pointer', async () => {
      const page = await host.owner()
      await show(page, '/console/usage?tenant=demo&by=key')
      await page.getByRole('cell', { name: 'search', exact: true }).waitFor()
      await page.locator('.chart .u-over').hover({ position: { x: 5, y: 40 } })
      expect(await page.locator('.chart-tip dt').first().innerText()).toMatch(/^\d{4}-\d\d-\d\d$/)
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

const DAY_SECONDS = 24 * 60 * 60

const CHAT: PastRequest = {
  operation: 'create-chat-completion',
  model: 'chat-default',
  channel: 'openai-main',
  amount: parseCredits('0.25'),
  usage: { inputTokens: 200, outputTokens: 500 },
}

/** Nine days of the tenant `demo`: a grant, a key whose name is one long word, three chats a day, a video that succeeded and one that failed, the key of a subject, and three failed jobs of this hour. */
export async function writePastDays(table: Table): Promise<void> {
  await makeTenant(table, { id: 'demo', name: 'Demo', credits: parseCredits('1234567.891234') }, TESTER)
  const traffic = new PastTraffic(table)
  const now = Math.trunc(Date.now() / 1000)
  const key = await traffic.key('demo', { name: 'search', createdAt: now - 9 * DAY_SECONDS })
  await traffic.key('demo', { name: 'x'.repeat(90), createdAt: now - 9 * DAY_SECONDS })
  const subject = { issuer: 'https://token.example.com', subject: 'repo:acme/app', tenantId: 'demo' }
  const limits = limitsOf({ name: 'ci', when: {}, tenant: 'demo', rate: 60 })
  await admitSubject(table, { ...subject, digest: digestOfSubject(subject), limits }, now * 1000)
  for (let before = 8; before >= 0; before -= 1) {
    const requests = Array.from({ length: 3 }, () => CHAT)
    await traffic.requests(key, (now - before * DAY_SECONDS - 60) * 1000, requests)
  }
  const video = pastVideo(now - DAY_SECONDS)
  await traffic.video(key, video)
  await traffic.video(key, { ...video, createdAt: video.createdAt + 60, error: 'the upstream refused the prompt' })
  for (const jobId of ['j1', 'j2', 'j3']) {
    await countFailedJob(table, { tenantId: 'demo', jobId }, Date.now())
  }
}

function pastVideo(createdAt: number): PastVideo {
  const file = join(REPOSITORY, 'config/gateway.yaml')
  const { config } = loadGatewayConfig({ file, environment: {}, mode: 'local' })
  const model = config.models.find((each): each is VideoModel => each.id === 'famB-1.1-t2v' && each.kind === 'video')
  if (model === undefined) {
    throw new Error(`${file} has no video model famB-1.1-t2v`)
  }
  return {
    model,
    createdAt,
    channel: { id: 'p1-main', provider: 'p1' },
    tookSeconds: 45,
    request: {
      model: model.id,
      prompt: 'a paper boat',
      duration: 5,
      resolution: '720P',
      aspect_ratio: '16:9',
      generate_audio: true,
      watermark: false,
      image_urls: [],
      video_urls: [],
      audio_urls: [],
    },
  }
}
