import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { waitUntil } from '../runner/wait-until.ts'
import { launchChromium } from './chromium.ts'

/** A page that does not change for this long has failed; the default of 30 s would hide the cause behind the timeout of the test. */
const ACTION_MILLISECONDS_MAX = 60_000

/** How long `endTest` waits for an expected problem. Chromium reports some a moment after the page has gone on. */
const REPORT_MILLISECONDS_MAX = 30_000

/** The reason of Chromium for requests that the page itself cancelled, by leaving or by `AbortController`. */
const CANCELLED = 'net::ERR_ABORTED'

const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
  reportViolation(violatedDirective + ' blocked ' + blockedURI + ' ' + sample))`

/** What every page has until a test changes it. Without animations no test waits for one, and none costs processor time. */
const SIZE = { width: 1280, height: 720 }
const MEDIA = { colorScheme: 'light', reducedMotion: 'reduce' } as const

/** A script that resolves after all that the page has reported before. */
const ALL_REPORTED = 'new Promise((resolve) => setTimeout(resolve))'

/**
 * One browser for a test file, and one context for each page that a test opens. A test fails at `endTest` when one of its pages wrote an
 * error to the console, threw, lost a request, broke the content security policy, opened a dialog of a script, or sent a request to another
 * origin.
 */
export class WatchedBrowser {
  readonly #browser: Browser
  readonly #contexts: BrowserContext[] = []
  readonly #lasting: Page[] = []
  readonly #problems: string[] = []
  readonly #expected: RegExp[] = []
  readonly #tolerated: readonly RegExp[]

  private constructor(browser: Browser, tolerated: readonly RegExp[]) {
    this.#browser = browser
    this.#tolerated = tolerated
  }

  /** @param tolerated problems that every page may have. */
  static async start(tolerated: readonly RegExp[] = []): Promise<WatchedBrowser> {
    return new WatchedBrowser(await launchChromium(), tolerated)
  }

  /** A page of a new context, which shares no cookie and no storage with others. It may only send requests to `origin`. */
  async open(origin: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.#newPage(origin, options)
    this.#contexts.push(page.context())
    return page
  }

  /** A page that lasts for all tests, with its cookies and its storage. `origin` must serve `/health`, where the page rests between tests. */
  async openLasting(origin: string): Promise<Page> {
    const page = await this.#newPage(origin)
    this.#lasting.push(page)
    return page
  }

  async #newPage(origin: string, options: BrowserContextOptions = {}): Promise<Page> {
    // Other locales of a machine, such as `en-US@posix`, are no valid language tags; libraries for charts throw at their import.
    const context = await this.#browser.newContext({
      baseURL: origin,
      locale: 'en-US',
      timezoneId: 'UTC',
      viewport: SIZE,
      ...MEDIA,
      ...options,
    })
    context.setDefaultTimeout(ACTION_MILLISECONDS_MAX)
    await context.exposeBinding('reportViolation', (_source, violation: string) => this.#note(`policy: ${violation}`))
    await context.addInitScript(REPORT_VIOLATIONS)
    if (process.env.REELGATE_TRACES !== undefined) {
      await context.tracing.start({ screenshots: true, snapshots: true })
    }
    const page = await context.newPage()
    this.#watch(page, new URL(origin).origin)
    return page
  }

  /** The test causes this problem, such as a 401 of a wrong key, which Chromium writes to the console. It fails without the problem. */
  expectProblem(pattern: RegExp): void {
    this.#expected.push(pattern)
  }

  /** Closes the pages of the test, and leaves lasting ones empty. @throws Error with all that went wrong in them. */
  async endTest(): Promise<void> {
    const contexts = this.#contexts.splice(0)
    const pages = [...contexts.flatMap((context) => context.pages()), ...this.#lasting]
    await Promise.allSettled(pages.map((page) => page.evaluate(ALL_REPORTED)))
    const missing = () => this.#expected.filter((pattern) => !this.#problems.some((problem) => pattern.test(problem)))
    const late = waitUntil(() => missing().length === 0, { timeout: REPORT_MILLISECONDS_MAX, interval: 20 })
    await late.catch(() => undefined)
    await Promise.all([...contexts.map(closeContext), ...this.#lasting.map(empty)])
    const known = [...this.#expected, ...this.#tolerated]
    const found = [
      ...this.#problems.filter((problem) => !known.some((pattern) => pattern.test(problem))),
      ...missing().map((pattern) => `expected, and did not happen: ${pattern}`),
    ]
    this.#problems.length = 0
    this.#expected.length = 0
    if (found.length > 0) {
      throw new Error(`in the browser:\n${found.map((each) => `  ${each}`).join('\n')}`)
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#lasting.map((page) => closeContext(page.context())))
    await this.#browser.close()
  }

  #note(problem: string): void {
    this.#problems.push(problem)
  }

  #watch(page: Page, origin: string): void {
    page.on('console', (message) => {
      if (message.type() === 'error') {
        this.#note(`console: ${message.text()} (${message.location().url})`)
      }
    })
    page.on('pageerror', (error) => this.#note(`thrown: ${error.stack || `${error.name} ${error.message}`}`))
    page.on('dialog', (dialog) => {
      this.#note(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('requestfailed', (request) => {
      const reason = request.failure()?.errorText
      if (reason !== CANCELLED) {
        this.#note(`request failed: ${request.method()} ${request.url()} ${reason}`)
      }
    })
    page.on('request', (request) => {
      const url = new URL(request.url())
      if (url.protocol !== 'blob:' && url.origin !== origin) {
        this.#note(`another origin: ${request.method()} ${request.url()}`)
      }
    })
  }
}

/** Nothing of a test reaches the next one but cookies and storage. Another origin, or none, would cost a new process. */
async function empty(page: Page): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.context().setOffline(false)
  await page.goto('/health')
  await page.emulateMedia(MEDIA)
  await page.setViewportSize(SIZE)
}

/** With `REELGATE_TRACES=<folder>` each context leaves a trace, to look at with `npx playwright-core show-trace`. */
async function closeContext(context: BrowserContext): Promise<void> {
  const folder = process.env.REELGATE_TRACES
  if (folder !== undefined) {
    mkdirSync(folder, { recursive: true })
    await context.tracing.stop({ path: join(folder, `${Date.now()}-${process.pid}-${crypto.randomUUID()}.zip`) })
  }
  await context.close()
}
