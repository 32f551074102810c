import { mkdtempSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunOptions } from 'axe-core'
import type { Locator, Page } from 'playwright-core'
import type { Table } from '#store/table/table.ts'
import { buildConsole } from '../../lib/console/build-console.ts'
import { type Gateway, startGateway } from '../e2e/start-gateway.ts'
import type { startReceiver, VideoApi } from '../e2e/video-client.ts'
import { withOfflineTable } from '../engines/past-traffic.ts'
import { waitUntil } from '../runner/wait-until.ts'
import { WatchedBrowser } from './watched-browser.ts'

/** A local host and a browser, for all tests of a file. */
export type ConsoleHost = {
  readonly gateway: Gateway
  readonly browser: WatchedBrowser
  /** A page of a browser where nobody is signed in. */
  visitor(): Promise<Page>
  /** The page of an owner, which the tests of a file share. It is empty, and the first step of a test is `goto`. */
  owner(): Promise<Page>
  /** A page of an owner who opens a sign-in link. */
  newOwner(): Promise<Page>
  /** A page where this key was typed. */
  withKey(key: string): Promise<Page>
  /** A new admin key. */
  adminKey(role: 'owner' | 'viewer'): Promise<string>
  /** A new sign-in link, as `npm start` prints one. */
  link(): Promise<string>
  close(): Promise<void>
}

/** The key of the tenant `demo`. */
export const DEMO_KEY = 'demo-key'

/** How a page learns that nobody is signed in. */
const NO_SESSION = /status of 401 .*\/admin\/v1\/session\)$/

/** Videos of the past have rows and no files, so their first frames cannot be loaded. */
const NO_FILE = /status of 403 .*\/v\/.*\.mp4/

type Options = NonNullable<Parameters<typeof startGateway>[0]> & {
  /** Writes what happened before the start. */
  readonly writePast?: (table: Table) => Promise<void>
}

/** Starts both, and builds the console before if its sources changed. */
export async function startConsoleHost({ writePast, ...changes }: Options = {}): Promise<ConsoleHost> {
  const options = { key: DEMO_KEY, ...changes }
  const start = async () => {
    // On a busy machine a build takes longer than a gateway may take to start.
    await buildConsole()
    if (writePast === undefined) {
      return startGateway(options)
    }
    const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-browser-'))
    await withOfflineTable(dataDirectory, writePast)
    return startGateway({ ...options, dataDirectory })
  }
  const [gateway, browser] = await Promise.all([
    start(),
    WatchedBrowser.start(writePast === undefined ? [NO_SESSION] : [NO_SESSION, NO_FILE]),
  ])
  const visitor = () => browser.open(gateway.url)
  const link = async () => String(Object(await gateway.admin('console', 'link')).link)
  const openLink = async (page: Page) => {
    await page.goto(await link())
    await signedIn(page)
    return page
  }
  let owner: Promise<Page> | undefined
  return {
    gateway,
    browser,
    visitor,
    link,
    owner: () => {
      owner ??= browser.openLasting(gateway.url).then(openLink)
      return owner
    },
    newOwner: async () => openLink(await visitor()),
    withKey: async (key) => {
      const page = await visitor()
      await page.goto('/console')
      await typeKey(page, key)
      await signedIn(page)
      return page
    },
    adminKey: async (role) =>
      String(Object(await gateway.admin('console', 'key', 'create', '--name', `the ${role}`, '--role', role)).key),
    close: async () => {
      await browser.close()
      await gateway.stop()
    },
  }
}

/** Types a key into the form and sends it. */
export async function typeKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('Admin key or API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Resolves when the frame of the console is there. @throws Error with what is there in its place. */
export async function signedIn(page: Page): Promise<void> {
  try {
    // On a phone the navigation is there and hidden.
    await page.locator('nav[aria-label="Pages"]').waitFor({ state: 'attached' })
  } catch (error) {
    throw new Error(`nobody is signed in: ${await page.locator('body').innerText()}`, { cause: error })
  }
}

/** A console that several groups of tests use one after the other, a receiver of callbacks that it may call, and jobs of clients. */
export type SharedConsole = {
  readonly host: ConsoleHost
  readonly receiver: Awaited<ReturnType<typeof startReceiver>>
  readonly jobs: ClientJobs
}

/** A tenant with one video job. */
type ClientJob = {
  readonly tenant: string
  readonly key: string
  readonly api: VideoApi
  readonly id: string
}

/** Video jobs that clients create before the first test, because each takes seconds, in which other tests run. */
export type ClientJobs = {
  /** Will succeed. */
  readonly paid: ClientJob
  /** Will fail. */
  readonly failed: ClientJob
  /** Will succeed; every string of its client is `HOSTILE`. */
  readonly hostile: ClientJob
}

/** An element with a script, the end of an attribute, and an url that is one. */
export const HOSTILE = `"'><img src=x onerror=alert(1)><script>alert(2)</script><a href="javascript:alert(3)">`

/** Creates the jobs, each of a tenant of its own with 20 credits. Does not wait for their ends. */
export async function createClientJobs(host: ConsoleHost, callbackOrigin: string): Promise<ClientJobs> {
  const create = async (name: string, prompt: string, path: string): Promise<ClientJob> => {
    const tenant = String(Object(await host.gateway.admin('tenant', 'create', '--name', name, '--credits', '20')).id)
    const key = String(Object(await host.gateway.admin('key', 'create', '--tenant', tenant, '--name', name)).key)
    const api = host.gateway.api.withKey(key)
    const callback_url = `${callbackOrigin}/${encodeURIComponent(path)}`
    const { status, json } = await api.create({ model: 'famB-1.1-t2v', prompt, callback_url })
    if (status !== 201) {
      throw new Error(`the job of ${name} is refused with ${status}`)
    }
    return { tenant, key, api, id: String(json.id) }
  }
  const [paid, failed, hostile] = await Promise.all([
    create('Studio', 'a paper city', 'hook'),
    create('Workshop', '[fail] a paper city', 'hook'),
    create(HOSTILE, HOSTILE, HOSTILE),
  ])
  return { paid, failed, hostile }
}

/** Goes to a page as a link does, and waits until nothing of it is loading. */
export async function show(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await signedIn(page)
  await loaded(page)
}

/** Resolves when the page has its title and nothing of it is loading. */
export async function loaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
}

/** Presses a button of the open dialog, and waits until the dialog is gone. */
export async function confirm(page: Page, name: string | RegExp): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name }).click()
  await dialog.waitFor({ state: 'detached' })
}

/**
 * The first request to this path gets the status, later ones pass. Interception stays on: Playwright's `times` turns it off while the
 * next request of the page may be on its way, and that request is lost.
 */
export async function refuseFirst(page: Page, path: string, status: number): Promise<void> {
  let isFirst = true
  await page.route(path, (route) => {
    const refused = isFirst
    isFirst = false
    return refused ? route.fulfill({ status }) : route.continue()
  })
}

/** Loads the page again until it shows this: a page does not know of what happens after its load. */
export async function reloadUntil(page: Page, shown: Locator): Promise<void> {
  await waitUntil(
    async () => {
      await page.reload()
      await loaded(page)
      return await shown.isVisible()
    },
    { timeout: 120_000, interval: 200 },
  )
}

/** A script for `cutContents`. Code scrolls on purpose; texts for screen readers are out of sight on purpose. */
const CUT_CONTENTS = `[...document.querySelectorAll('main *:not(svg *)')].filter((element) => {
  const isHidden = element.closest('pre, .json, .options, .unseen') !== null || !element.checkVisibility()
  const scrolls = getComputedStyle(element).overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1
  return !isHidden && (scrolls || element.getBoundingClientRect().right > innerWidth + 1)
}).map(({ outerHTML }) => outerHTML.slice(0, 300))`

/** The elements of the page's content that are cut, scroll sideways, or reach out of the window. */
export async function cutContents(page: Page): Promise<string[]> {
  // A chart takes the size of its box a frame later.
  await page.evaluate(SETTLED)
  return page.evaluate(CUT_CONTENTS)
}

/** What a test needs of a video element. */
type Player = {
  currentTime: number
  muted: boolean
  play(): Promise<void>
  pause(): void
  addEventListener(name: string, listener: () => void): void
}

/** For `evaluate` of a video: plays until the position moves, and resolves with it, in seconds. */
export async function playedSeconds(video: Player): Promise<number> {
  video.muted = true
  await video.play()
  await new Promise<void>((resolve) => video.addEventListener('timeupdate', () => video.currentTime > 0 && resolve()))
  video.pause()
  return video.currentTime
}

/** WCAG 2.2 AA and all that it includes. */
const OPTIONS: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  resultTypes: ['violations'],
}

/** Every page that is checked compiles it, and the minified one is half as long. */
const AXE = `${readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')}; undefined`

type Violation = {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** Resolves when every transition has ended and the page is drawn. */
const SETTLED = `(async () => {
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  const ends = (each) => Number.isFinite(each.effect.getComputedTiming().endTime)
  await Promise.allSettled(document.getAnimations().filter(ends).map(({ finished }) => finished))
})()`

/**
 * One sentence for each rule of WCAG 2.2 AA that the page breaks, with the elements and the reasons. axe cannot judge canvases, the order of focus, or a
 * colour as the only sign.
 */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  // A colour in the middle of a fade may lack contrast.
  await page.evaluate(SETTLED)
  // Not as a script of the page: its content security policy and Trusted Types would refuse that.
  const isThere = await page.evaluate("typeof axe === 'object'")
  if (isThere !== true) {
    await page.evaluate(AXE)
  }
  const run = `axe.run(document, ${JSON.stringify(OPTIONS)})`
  const violations: readonly Violation[] = await page.evaluate(`${run}.then(({ violations }) =>
    violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary })) })))`)
  const where = (nodes: Violation['nodes']) => nodes.map(({ html, failureSummary }) => `${html} (${failureSummary})`)
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${where(nodes).join(' ')}`)
}
