import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Table } from '#store/table/table.ts'
import { buildConsole } from '../../lib/console/build-console.ts'
import { type Gateway, startGateway } from '../e2e/start-gateway.ts'
import { withOfflineTable } from '../engines/offline-table.ts'
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
  const [gateway, browser] = await Promise.all([start(), WatchedBrowser.start([NO_SESSION])])
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
