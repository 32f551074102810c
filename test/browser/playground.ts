import { beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import {
  accessibilityViolations,
  type ConsoleHost,
  DEMO_KEY,
  loaded,
  playedSeconds,
  refuseFirst,
  reloadUntil,
  type SharedConsole,
  show,
} from './console-host.ts'

let host: ConsoleHost

/** The first digits of the hash of the key. */
const DEMO_KEY_ID = 'c48a01f4'

const VIDEO_MILLISECONDS_MAX = 120_000

/** Resolves when the progress bar has moved on from what it shows now. */
async function progressMoves(page: Page): Promise<void> {
  const bar = await page.getByLabel('Results').locator('progress[value]').elementHandle()
  const first = await bar?.evaluate(({ value }: { value: number }) => value)
  await page.waitForFunction((shown) => shown.bar.value > shown.first, {
    bar: Object(bar),
    first: Number(first),
  })
}

/** A script that resolves with three lengths which the reply has one after the other. A reply that comes in one piece has one. */
const REPLY_LENGTHS = `new Promise((resolve) => {
  const lengths = new Set()
  const observer = new MutationObserver(() => {
    const length = document.querySelector('.message-assistant')?.textContent.length ?? 0
    if (length > 0 && lengths.add(length).size === 3) {
      observer.disconnect()
      resolve([...lengths])
    }
  })
  observer.observe(document.body, { childList: true, characterData: true, subtree: true })
})`

async function checkInBothThemes(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect([colorScheme, await accessibilityViolations(page)]).toEqual([colorScheme, []])
  }
}

/** The playground. Nobody else makes a video for the tenant `demo`. */
export function testPlayground(shared: () => SharedConsole): void {
  describe('the playground', () => {
    beforeAll(() => {
      host = shared().host
    })

    it('keeps its key over a reload of the page', async () => {
      const page = await host.owner()
      let made = 0
      page.on('request', (request) => {
        made += request.method() === 'POST' && request.url().endsWith('/playground/key') ? 1 : 0
      })
      const quoted = () => page.locator('.quotes data').first().waitFor()
      await show(page, '/console/playground?tenant=demo&model=famB-1.1-t2v')
      await page.getByLabel('Prompt').fill('a paper city')
      await quoted()
      await page.reload()
      await page.getByLabel('Prompt').fill('a paper city')
      await quoted()
      expect(made).toBe(1)
    })

    it('quotes a video, shows its progress also after a failure, plays it, and leads to its rows in the ledger and to its cost in the usage', async () => {
      const page = await host.owner()
      await show(page, '/console/playground?tenant=demo&model=famB-1.1-t2v')
      await page.getByLabel('Prompt').fill('a paper city')
      const quote = await page.locator('.quotes data').first().getAttribute('value')
      expect(quote).toBe('0.7')
      host.browser.expectProblem(/status of 503 .*\/events/)
      await refuseFirst(page, '**/events', 503)
      await page.getByRole('button', { name: 'Create the video' }).click()
      await progressMoves(page)
      const results = page.getByLabel('Results')
      const video = results.locator('video')
      await video.waitFor({ timeout: VIDEO_MILLISECONDS_MAX })
      expect(await video.evaluate(playedSeconds)).toBeGreaterThan(0)
      await checkInBothThemes(page)
      expect(await results.locator('dd data').getAttribute('value')).toBe(quote)

      await results.getByRole('link', { name: 'Ledger' }).click()
      await page.waitForURL(/\/console\/ledger\?.*id=/)
      await loaded(page)
      await page.getByRole('row').filter({ hasText: 'settle' }).waitFor()
      const rows = await page.locator('tbody tr').allInnerTexts()
      expect(rows.map((row) => /settle|reserve/.exec(row)?.[0])).toEqual(['settle', 'reserve'])
      expect(rows.every((row) => row.includes('famB-1.1-t2v'))).toBe(true)
      expect(await page.locator('tbody [title^="playground"]').count()).toBe(2)

      await page.getByRole('link', { name: 'Usage' }).click()
      // The rows of the ledger stay until the next page has loaded.
      await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor()
      const usage = page.getByRole('row').filter({ hasText: 'famB-1.1-t2v' })
      await usage.waitFor()
      expect(await usage.locator('td').allInnerTexts()).toEqual(['famB-1.1-t2v', '1', '0', '0', '0', '5', '0', '0.70'])
      expect(await host.gateway.admin('ledger', 'verify')).toMatchObject({ broken: [] })
    })

    it('chats word by word, also when its key has ended, with the tokens and the cost of the reply', async () => {
      const page = await host.owner()
      await show(page, '/console/playground?tenant=demo&kind=chat')
      host.browser.expectProblem(/status of 401 .*\/chat\/completions/)
      await refuseFirst(page, '**/v1/chat/completions', 401)
      await page.getByLabel('Message', { exact: true }).fill('hello [gap:50]')
      const lengths: Promise<number[]> = page.evaluate(REPLY_LENGTHS)
      await page.getByRole('button', { name: 'Send' }).click()
      const conversation = page.getByLabel('Conversations')
      const [first = 0, second = 0, third = 0] = await lengths
      expect(first < second && second < third).toBe(true)
      await conversation.getByText(/\d+ in, \d+ out · cost 0\.\d+/).waitFor()
      await checkInBothThemes(page)
    })

    it('copies the request of a chat that was sent last as code, and what has been typed since', async () => {
      const page = await host.owner()
      await show(page, '/console/playground?tenant=demo&kind=chat')
      const copied = async () => {
        await page.getByRole('button', { name: 'Copy as code' }).click()
        const code = await page.getByRole('dialog').locator('pre').innerText()
        await page.keyboard.press('Escape')
        return code
      }
      const sending = page.waitForRequest('**/v1/chat/completions')
      const message = page.getByLabel('Message', { exact: true })
      await message.fill('hello')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText('The reply is complete').waitFor({ state: 'attached' })
      const sent = (await sending).postData()
      expect(sent).toContain('"content":"hello"')
      expect(await copied()).toContain(`-d '${sent}'`)
      await message.fill('and now?')
      expect(await copied()).toMatch(/"hello".*"role":"assistant".*"content":"and now\?"/)
    })

    it('begins a new conversation while a reply arrives, of which nothing comes back', async () => {
      const page = await host.owner()
      await show(page, '/console/playground?tenant=demo&kind=chat')
      const message = page.getByLabel('Message', { exact: true })
      const send = async (text: string) => {
        await message.fill(text)
        await page.getByRole('button', { name: 'Send' }).click()
      }
      const begun: Promise<number[]> = page.evaluate(REPLY_LENGTHS)
      await send('hello [gap:300]')
      await begun
      const ended = page.waitForEvent('requestfailed')
      await page.getByRole('button', { name: 'New conversation' }).click()
      await ended
      await send('and now?')
      await page.getByText('The reply is complete').waitFor({ state: 'attached' })
      expect(await page.locator('.message').count()).toBe(2)
    })

    it('keeps the message of a chat that failed, and announces the failure without a time', async () => {
      const page = await host.owner()
      await show(page, '/console/playground?tenant=demo&kind=chat')
      host.browser.expectProblem(/status of 503 .*\/chat\/completions/)
      await refuseFirst(page, '**/v1/chat/completions', 503)
      const message = page.getByLabel('Message', { exact: true })
      await message.fill('hello again')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByRole('alert').getByText('status 503').waitFor()
      expect(await message.inputValue()).toBe('hello again')
      expect(await page.locator('.message').count()).toBe(0)
      await page.getByText('The reply failed').waitFor({ state: 'attached' })
      expect(await page.getByText(/total \d+ ms/).count()).toBe(0)
    })

    it('offers what two image models take, makes their images side by side, and says what each costs', async () => {
      const page = await host.owner()
      await show(page, '/console/playground?tenant=demo&kind=image&model=image-v3&compare=image-v2')
      await page.getByText('image-v3 takes one image a request').waitFor()
      expect(await page.getByLabel('Size').locator('option').allInnerTexts()).toEqual(['Default', '1024x1024'])
      await page.getByLabel('Prompt').fill('a lighthouse')
      await page.getByRole('button', { name: 'Create the image' }).click()
      const results = page.getByLabel('Results')
      await results.locator('img').nth(1).waitFor()
      const widths: number[] = await results
        .locator('img')
        .evaluateAll((images) => Promise.all(images.map((image) => image.decode().then(() => image.naturalWidth))))
      expect(widths.every((width) => width > 0)).toBe(true)
      const costs = await results.locator('data').evaluateAll((amounts) => amounts.map(({ value }) => value))
      expect(costs).toEqual(['0.04', '0.02'])
      await checkInBothThemes(page)
    })

    it('lets an API key spend for its own tenant with a short-lived key, and no viewer at all', async () => {
      const page = await host.withKey(DEMO_KEY)
      await show(page, '/console/playground?kind=chat')
      expect(await page.getByLabel('Tenant', { exact: true }).count()).toBe(0)
      const sent = page.waitForRequest((request) => request.url().endsWith('/v1/chat/completions'))
      await page.getByLabel('Message', { exact: true }).fill('hello')
      await page.getByRole('button', { name: 'Send' }).click()
      const request = await sent
      const { authorization } = await request.allHeaders()
      expect(authorization).not.toContain(DEMO_KEY)
      const requestId = await (await request.response())?.headerValue('x-request-id')
      await page.getByText('The reply is complete').waitFor({ state: 'attached' })
      await page.getByRole('link', { name: 'Ledger' }).click()
      await page.waitForURL('**/console/ledger*')
      // The request is settled after its reply.
      const row = page.getByRole('row').filter({ has: page.locator(`code[title="${requestId}"]`) })
      await reloadUntil(page, row.locator(`[title="${DEMO_KEY_ID}"]`))

      const viewer = await host.withKey(await host.adminKey('viewer'))
      await show(viewer, '/console/playground?tenant=demo')
      await viewer.getByText('Viewers cannot spend').waitFor()
      expect(await viewer.getByRole('button', { name: /make|send/i }).count()).toBe(0)
    })
  })
}
