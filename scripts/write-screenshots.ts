import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { loadGatewayConfig } from '../lib/config/load-gateway-config.ts'
import { launchChromium } from '../test/browser/chromium.ts'
import { type Gateway, startGateway } from '../test/e2e/start-gateway.ts'
import { withOfflineTable } from '../test/engines/past-traffic.ts'
import { writePastMonth } from './screenshots/past-month.ts'

const REPOSITORY = join(import.meta.dirname, '..')
const IMAGES = join(REPOSITORY, 'docs/images')

/** Every clone of the repository pays for these files. */
const BYTES_MAX = 120_000

const SIZE = { width: 1280, height: 800 }

type Shot = {
  readonly name: string
  readonly path: string
  readonly colorScheme?: 'light' | 'dark'
  /** What a person does on the page before the picture. */
  readonly prepare?: (page: Page) => Promise<void>
}

const VIDEO_MILLISECONDS_MAX = 60_000

async function makeVideo(page: Page): Promise<void> {
  await page.getByLabel('Prompt').fill('a paper boat crosses a flooded street, seen from above')
  await page.getByRole('button', { name: 'Create the video' }).click()
  await page.locator('video').first().waitFor({ timeout: VIDEO_MILLISECONDS_MAX })
  await showMoment(page)
}

/** The first row of a list, which is that of the video of the playground. */
async function openNewest(page: Page): Promise<void> {
  await page.locator('tbody a').first().click()
  await page.getByRole('region', { name: 'Receipt' }).waitFor()
  await showMoment(page)
}

type Video = {
  muted: boolean
  readonly currentTime: number
  readonly play: () => Promise<void>
  readonly pause: () => void
  readonly addEventListener: (name: string, listener: () => void) => void
}

/** Plays the video into its third second. After a jump the player would show that it is loading. */
async function showMoment(page: Page): Promise<void> {
  await page
    .locator('video')
    .first()
    .evaluate(async (video: Video) => {
      video.muted = true
      await video.play()
      await new Promise<void>((resolve) => {
        video.addEventListener('timeupdate', () => video.currentTime > 2 && resolve())
      })
      video.pause()
    })
}

const SHOTS: readonly Shot[] = [
  { name: 'playground', path: '/playground?tenant=northwind', prepare: makeVideo },
  { name: 'overview-light', path: '' },
  { name: 'overview-dark', path: '', colorScheme: 'dark' },
  { name: 'usage', path: '/usage' },
  { name: 'videos', path: '/videos?tenant=northwind' },
  { name: 'video', path: '/videos?tenant=northwind', prepare: openNewest },
  { name: 'ledger', path: '/ledger?tenant=northwind' },
]

/** What an operator has set, so that the overview has something to say. */
const COMMANDS = [
  ['tenant', 'budget', '--tenant', 'northwind', '--amount', '500', '--period', 'month'],
  ['tenant', 'budget', '--tenant', 'paperlane', '--amount', '200', '--period', 'month'],
  ['tenant', 'alerts', '--tenant', 'atlas', '--low-balance', '110'],
  ['channel', 'disable', 'p2-proxy'],
] as const

/** `npm run screenshots`: a local host with a month of three invented tenants, and pictures of its console. Run by hand. */
async function main(): Promise<void> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-screenshots-'))
  console.error('writing a month of traffic')
  const { config } = loadGatewayConfig({
    file: join(REPOSITORY, 'config/gateway.yaml'),
    environment: {},
    mode: 'local',
  })
  await withOfflineTable(dataDirectory, (table) => writePastMonth(table, config, Math.trunc(Date.now() / 1000)))
  const gateway = await startGateway({ dataDirectory })
  const browser = await launchChromium()
  try {
    for (const command of COMMANDS) {
      await gateway.admin(...command)
    }
    await chat(gateway)
    await takeAll(browser, gateway)
  } finally {
    await browser.close()
    await gateway.stop()
    rmSync(dataDirectory, { recursive: true, force: true })
  }
}

const CHATS = 14

/** A minute with traffic. */
async function chat(gateway: Gateway): Promise<void> {
  const { key } = Object(await gateway.admin('key', 'create', '--tenant', 'northwind', '--name', 'script-assistant'))
  const api = gateway.api.withKey(String(key))
  for (let count = 0; count < CHATS; count += 1) {
    const body = {
      model: 'chat-default',
      messages: [{ role: 'user', content: `a scene with ${count + 1} paper boats` }],
    }
    await api.send('POST', '/v1/chat/completions', JSON.stringify(body))
  }
}

async function takeAll(browser: Browser, gateway: Gateway): Promise<void> {
  mkdirSync(IMAGES, { recursive: true })
  const { key } = Object(await gateway.admin('console', 'key', 'create', '--name', 'ada', '--role', 'owner'))
  const first = await openContext(browser, {})
  const page = await first.newPage()
  await page.goto(`${gateway.url}/console`)
  await page.getByLabel('Admin key or API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  const session = await first.storageState()
  await first.close()
  for (const shot of SHOTS) {
    const context = await openContext(browser, { storageState: session, colorScheme: shot.colorScheme ?? 'light' })
    const file = join(IMAGES, `${shot.name}.webp`)
    writeFileSync(file, await encodeWebp(browser, await take(context, gateway.url, shot)))
    await context.close()
    report(file)
  }
}

function openContext(
  browser: Browser,
  options: NonNullable<Parameters<Browser['newContext']>[0]>,
): Promise<BrowserContext> {
  return browser.newContext({ locale: 'en-US', timezoneId: 'UTC', viewport: SIZE, ...options })
}

async function take(context: BrowserContext, url: string, { path, prepare }: Shot): Promise<Buffer> {
  const page = await context.newPage()
  await page.goto(`${url}/console${path}`, { waitUntil: 'networkidle' })
  await page.getByRole('heading', { level: 1 }).waitFor()
  await prepare?.(page)
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
  if ((await page.locator('.state-bad').count()) > 0) {
    throw new Error(`${path} failed: ${await page.locator('.state-bad').first().innerText()}`)
  }
  return await page.screenshot({ animations: 'disabled' })
}

/** Good enough for letters of a page at a fraction of the bytes of a PNG. */
const QUALITY = 0.82

/** Encodes a PNG as WebP, by the browser that is there anyway. */
async function encodeWebp(browser: Browser, png: Buffer): Promise<Buffer> {
  const page = await browser.newPage()
  try {
    const url: string = await page.evaluate(`(async () => {
      const image = new Image()
      image.src = ${JSON.stringify(`data:image/png;base64,${png.toString('base64')}`)}
      await image.decode()
      const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
      canvas.getContext('2d').drawImage(image, 0, 0)
      return canvas.toDataURL('image/webp', ${QUALITY})
    })()`)
    return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64')
  } finally {
    await page.close()
  }
}

/** @throws Error for a picture that is too large to keep. */
function report(file: string): void {
  const { size } = statSync(file)
  console.error(`${file}: ${Math.round(size / 1000)} kB`)
  if (size > BYTES_MAX) {
    throw new Error(`${file} has ${size} bytes, more than ${BYTES_MAX}: show less, or lower the quality`)
  }
}

await main()
