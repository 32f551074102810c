import type { Browser, BrowserContext, Page } from 'playwright-core'
import { launchChromium } from '../test/engines/chromium/launch-chromium.ts'
import { startBenchHost } from './bench-host.ts'
import { type ConsoleVolume, fillConsoleData } from './console-data.ts'
import { markdownTable } from './markdown-table.ts'
import type { MeasureOptions } from './measurement.ts'
import { median } from './statistics.ts'

const VOLUMES = {
  full: { jobs: 10_000, ledgerRows: 100_000, days: 30 },
  quick: { jobs: 600, ledgerRows: 6_000, days: 30 },
} as const satisfies Record<string, ConsoleVolume>

const ROUNDS = { full: 15, quick: 3 } as const

const TENANT = 'tenant=demo'

/** Pages by the path below `/console`, each with what shows that its rows are there. */
const PAGES = [
  { name: 'videos, the first list', path: `/videos?${TENANT}`, shown: 'tbody tr' },
  { name: 'ledger', path: `/ledger?${TENANT}`, shown: 'tbody tr' },
  { name: 'usage', path: `/usage?${TENANT}`, shown: 'tbody tr' },
  { name: 'overview of the tenant', path: `?${TENANT}`, shown: 'main section' },
] as const

const REQUESTS = [
  `/videos?${TENANT}`,
  `/videos?${TENANT}&status=failed`,
  `/ledger?${TENANT}`,
  `/usage?${TENANT}&group_by=day,model`,
  `/overview?${TENANT}`,
  `/keys?${TENANT}`,
] as const

const TARGET_MILLISECONDS = 1_000

/** How long a page of the console takes in a browser, and its requests by themselves, over a table with a month of traffic. */
export async function measureConsole({ quick, progress }: MeasureOptions): Promise<string> {
  const volume = quick ? VOLUMES.quick : VOLUMES.full
  const rounds = quick ? ROUNDS.quick : ROUNDS.full
  progress(`writing ${volume.jobs} jobs and ${volume.ledgerRows} ledger rows`)
  const host = await startBenchHost({
    submitWaitSeconds: 0,
    fillDirectory: (directory) => fillConsoleData(directory, volume),
  })
  const browser = await launchChromium()
  try {
    const session = await signIn(browser, host.consoleLink)
    const pages = []
    for (const page of PAGES) {
      progress(`page ${page.name}, ${rounds} rounds`)
      pages.push({ ...page, milliseconds: await repeat(rounds, () => measurePage(browser, session, host.url, page)) })
    }
    progress('requests')
    const requests = await measureRequests(browser, session, host.url, rounds)
    return report(volume, pages, requests)
  } finally {
    await browser.close()
    await host.stop()
  }
}

type Session = Awaited<ReturnType<BrowserContext['storageState']>>

async function signIn(browser: Browser, link: string): Promise<Session> {
  const context = await openContext(browser)
  const page = await context.newPage()
  await page.goto(link)
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  const session = await context.storageState()
  await context.close()
  return session
}

function openContext(browser: Browser, storageState?: Session): Promise<BrowserContext> {
  return browser.newContext({
    locale: 'en-US',
    timezoneId: 'UTC',
    ...(storageState === undefined ? {} : { storageState }),
  })
}

async function repeat(rounds: number, measure: () => Promise<number>): Promise<readonly number[]> {
  // Without the first, which compiles and opens connections.
  await measure()
  const found: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    found.push(await measure())
  }
  return found
}

/** From the navigation to the rows, with an empty cache. */
async function measurePage(
  browser: Browser,
  session: Session,
  url: string,
  { path, shown }: { path: string; shown: string },
): Promise<number> {
  const context = await openContext(browser, session)
  const page = await context.newPage()
  try {
    await page.goto(`${url}/console${path}`, { waitUntil: 'commit' })
    return await shownAfter(page, shown)
  } finally {
    await context.close()
  }
}

/** A page that shows nothing for this long has failed. */
const SHOWN_MILLISECONDS_MAX = 30_000

/** The page's own clock, which begins with the navigation; asked with every frame. @throws Error when nothing is shown in time. */
async function shownAfter(page: Page, selector: string): Promise<number> {
  const milliseconds: number = await page.evaluate(`new Promise((resolve) => {
    const look = () => document.querySelector(${JSON.stringify(selector)}) === null && performance.now() < ${SHOWN_MILLISECONDS_MAX}
      ? requestAnimationFrame(look)
      : resolve(performance.now())
    look()
  })`)
  if (milliseconds >= SHOWN_MILLISECONDS_MAX) {
    throw new Error(`${page.url()} never showed ${selector}`)
  }
  return milliseconds
}

type Timed = { readonly name: string; readonly milliseconds: readonly number[] }

/** One after the other, by a page that shows nothing else meanwhile. */
async function measureRequests(
  browser: Browser,
  session: Session,
  url: string,
  rounds: number,
): Promise<readonly Timed[]> {
  const context = await openContext(browser, session)
  const page = await context.newPage()
  await page.goto(`${url}/console/sessions`)
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  const timed: Timed[] = []
  for (const path of REQUESTS) {
    timed.push({ name: `GET /admin/v1${path}`, milliseconds: await repeat(rounds, () => fetchOnce(page, path)) })
  }
  await context.close()
  return timed
}

async function fetchOnce(page: Page, path: string): Promise<number> {
  const { status, milliseconds }: { status: number; milliseconds: number } = await page.evaluate(`(async () => {
    const headers = { 'x-reelgate-page': Object.values(localStorage).find((each) => each.length > 20) ?? '' }
    const startedAt = performance.now()
    const response = await fetch(${JSON.stringify(`/admin/v1${path}`)}, { headers })
    await response.text()
    return { status: response.status, milliseconds: performance.now() - startedAt }
  })()`)
  if (status !== 200) {
    throw new Error(`GET /admin/v1${path} is a ${status}`)
  }
  return milliseconds
}

function report(
  { jobs, ledgerRows, days }: ConsoleVolume,
  pages: readonly Timed[],
  requests: readonly Timed[],
): string {
  const rows = (timed: readonly Timed[]) =>
    timed.map(({ name, milliseconds }) => [name, median(milliseconds).toFixed(0), Math.max(...milliseconds).toFixed(0)])
  const first = pages[0]?.milliseconds ?? []
  const slowest = Math.max(...first)
  return [
    '## Console',
    '',
    `The local host with ${jobs} jobs and ${ledgerRows} ledger rows of one tenant over ${days} days, and the Chromium of the tests, on one`,
    'machine. A page: from the navigation to its rows, with an empty cache and an open session. A request: by a script of the page.',
    '',
    markdownTable(['page', 'ms, median', 'ms, largest'], rows(pages)),
    '',
    markdownTable(['request', 'ms, median', 'ms, largest'], rows(requests)),
    '',
    markdownTable(
      ['target', 'found', ''],
      [
        [
          `first list within ${TARGET_MILLISECONDS} ms`,
          `${median(first).toFixed(0)} ms, at most ${slowest.toFixed(0)} ms`,
          slowest <= TARGET_MILLISECONDS ? 'met' : 'missed',
        ],
      ],
    ),
  ].join('\n')
}
