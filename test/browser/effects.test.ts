import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { accessibilityViolations } from './accessibility-violations.ts'
import { type ConsoleHost, startConsoleHost } from './console-host.ts'

let host: ConsoleHost
beforeAll(async () => {
  host = await startConsoleHost()
})
afterAll(() => host.close())
afterEach(() => host.browser.endTest())

/** Presses a button of the open dialog, and waits until the dialog is gone. */
async function confirm(page: Page, name: string | RegExp): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name }).click()
  await dialog.waitFor({ state: 'detached' })
}

const chatWith = async (key: string) => {
  const body = { model: 'chat-default', messages: [{ role: 'user', content: 'hello' }] }
  return (await host.gateway.api.withKey(key).send('POST', '/v1/chat/completions', JSON.stringify(body))).status
}

describe('an owner', () => {
  it('makes a key that is shown once and works, and revokes it', async () => {
    const page = await host.owner()
    await page.goto('/console/keys?tenant=demo')
    await page.getByRole('button', { name: 'New key' }).first().click()
    await page.getByLabel('Name').fill('search')
    await page.getByRole('button', { name: 'Make the key' }).click()
    const key = await page.getByRole('dialog', { name: 'The new key' }).locator('code').innerText()
    expect(key).toMatch(/^rg_live_/)
    expect(await accessibilityViolations(page)).toEqual([])
    await confirm(page, 'I have copied it')
    expect(await chatWith(key)).toBe(200)
    await page.reload()
    const row = page.getByRole('row').filter({ hasText: 'search' })
    await row.waitFor()
    expect(await page.content()).not.toContain(key)
    expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain(key)

    await row.getByRole('button', { name: /revoke/i }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(/to confirm/).fill('search')
    await confirm(page, 'Revoke the key')
    await row.getByText('revoked').waitFor()
    expect(await chatWith(key)).toBe(401)
  })

  it('grants and corrects credits, and sees the rows in the ledger', async () => {
    const page = await host.owner()
    await page.goto('/console/tenants/demo')
    await page.getByRole('button', { name: 'Grant credits' }).click()
    await page.getByRole('textbox', { name: 'Credits' }).fill('50')
    await page.getByLabel('Note').fill('a welcome')
    await confirm(page, /^Grant 50/)
    await page.getByRole('button', { name: 'Correct' }).click()
    await page.getByRole('textbox', { name: 'Credits' }).fill('-7.5')
    await page.getByLabel('Reason').fill('granted too much')
    expect(await accessibilityViolations(page)).toEqual([])
    await confirm(page, /^Correct by/)
    const { granted } = Object(await host.gateway.admin('tenant', 'show', '--tenant', 'demo'))
    expect(granted).toBe('142.5')
    await page.goto('/console/ledger?tenant=demo')
    await page.getByRole('row').filter({ hasText: 'granted too much' }).waitFor()
    expect(await host.gateway.admin('ledger', 'verify')).toMatchObject({ broken: [] })
  })

  it('disables a model and enables it again', async () => {
    const page = await host.owner()
    await page.goto('/console/channels')
    const row = page.getByRole('row').filter({ hasText: 'text-embedding-3-small' }).last()
    await row.getByRole('button', { name: /disable/i }).click()
    await confirm(page, 'Disable')
    await row.getByText('disabled').first().waitFor()
    await row.getByRole('button', { name: /enable/i }).click()
    await confirm(page, 'Enable')
    await row.getByText('disabled').first().waitFor({ state: 'detached' })
  })

  it('makes a video in the playground that plays, and reads what it cost in the ledger', async () => {
    const page = await host.owner()
    await page.goto('/console/playground?tenant=demo&model=famB-1.1-t2v')
    await page.getByLabel('Prompt').fill('a paper city')
    await page.getByRole('button', { name: 'Make the video' }).click()
    const video = page.locator('video')
    await video.waitFor({ timeout: VIDEO_MILLISECONDS_MAX })
    expect(await video.evaluate(playedSeconds)).toBeGreaterThan(0)
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('link', { name: 'Ledger' }).last().click()
    await page.getByRole('row').filter({ hasText: 'settle' }).first().waitFor()
  }, 60_000)

  it('chats in the playground, word by word', async () => {
    const page = await host.owner()
    await page.goto('/console/playground?tenant=demo&kind=chat')
    await page.getByLabel('Message', { exact: true }).fill('hello [gap:100]')
    await page.getByRole('button', { name: 'Send' }).click()
    const conversation = page.getByLabel('Conversations')
    const lengths = new Set<number>()
    for (let look = 0; look < LOOKS_MAX && lengths.size < 3; look += 1) {
      lengths.add((await conversation.innerText()).length)
    }
    expect(lengths.size).toBe(3)
  })
})

const VIDEO_MILLISECONDS_MAX = 30_000

/** Each look takes a millisecond or more. */
const LOOKS_MAX = 3_000

type Player = {
  currentTime: number
  muted: boolean
  play(): Promise<void>
  addEventListener(name: string, listener: () => void): void
}

/** Plays, and resolves with the position once it moves. */
async function playedSeconds(video: Player): Promise<number> {
  video.muted = true
  await video.play()
  await new Promise<void>((resolve) => video.addEventListener('timeupdate', () => video.currentTime > 0 && resolve()))
  return video.currentTime
}
