import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { REPOSITORY } from '../e2e/child-environment.ts'
import { accessibilityViolations } from './console-host.ts'
import { WatchedBrowser } from './watched-browser.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"

const page = (body: string, script = '') =>
  `<!doctype html><html lang="en"><title>A page</title><main><h1>A page</h1>${body}</main>${script}</html>`

/** What each script does is what one test is about. */
const SCRIPTS: Readonly<Record<string, string>> = {
  '/log.js': "console.error('it broke')",
  '/throw.js': "throw new TypeError('not a function')",
  '/markup.js': "document.querySelector('main').innerHTML = '<b>from a string</b>'",
  '/ask.js': "confirm('really?')",
  '/refused.js': "fetch('/none')",
  '/abroad.js': "fetch('http://127.0.0.1:9').catch(() => {})",
  '/cancelled.js': "const control = new AbortController(); fetch('/slow', control).catch(() => {}); control.abort()",
}

const PAGES: Readonly<Record<string, string>> = {
  '/': page('<p>Nothing wrong here.</p>'),
  '/inline': page('<p>A script in the page.</p>', '<script>1</script>'),
  '/video': page('<video muted src="/clip.mp4" width="320" height="180"></video>'),
  '/free': page('<p>No policy.</p>', '<script src="/abroad.js"></script>'),
  '/nameless': page('<button></button><img src="/icon.svg">'),
}

let browser: WatchedBrowser
let origin: string
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  const path = request.url ?? '/'
  const script = SCRIPTS[path]
  if (script !== undefined) {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(script)
  } else if (path === '/clip.mp4') {
    response.writeHead(200, { 'content-type': 'video/mp4' })
    response.end(readFileSync(join(REPOSITORY, 'lib/simulators/clips/16x9-03s.mp4')))
  } else if (path === '/icon.svg') {
    response.writeHead(200, { 'content-type': 'image/svg+xml' }).end('<svg xmlns="http://www.w3.org/2000/svg"/>')
  } else {
    const html = PAGES[path] ?? (path.startsWith('/run') ? page('', `<script src="${path.slice(4)}"></script>`) : '')
    const status = html === '' ? 404 : 200
    const policy = path === '/free' ? {} : { 'content-security-policy': POLICY }
    response.writeHead(status, { 'content-type': 'text/html', ...policy }).end(html)
  }
})

beforeAll(async () => {
  browser = await WatchedBrowser.start()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const address = server.address()
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
})
afterAll(async () => {
  await browser.close()
  server.closeAllConnections()
  server.close()
})
afterEach(() => browser.endTest())

/** What `endTest` says of a test that loads these pages. */
async function problemsOf(...paths: string[]): Promise<string> {
  await Promise.all(paths.map(async (path) => (await browser.open(origin)).goto(path, { waitUntil: 'networkidle' })))
  return browser.endTest().then(
    () => 'none',
    (error) => String(error),
  )
}

describe('a watched browser', () => {
  it('has nothing to say of a page without a problem, nor of a request that the page cancels', async () => {
    expect(await problemsOf('/', '/run/cancelled.js')).toBe('none')
  })

  it('fails a test for whatever goes wrong in a page', async () => {
    const pages = [
      '/inline',
      ...['log', 'throw', 'markup', 'ask', 'refused', 'abroad'].map((name) => `/run/${name}.js`),
    ]
    const problems = await problemsOf(...pages)
    expect(problems).toMatch(/policy: script-src-elem blocked inline/)
    expect(problems).toMatch(/console: it broke/)
    expect(problems).toMatch(/thrown: TypeError: not a function/)
    expect(problems).toMatch(/dialog: really\?/)
    expect(problems).toMatch(/policy: require-trusted-types-for blocked trusted-types-sink/)
    expect(problems).toMatch(/console: Failed to load resource: .* 404/)
    expect(problems).toMatch(/policy: connect-src blocked http:\/\/127\.0\.0\.1:9\//)
  })

  it('fails a test for a request to another origin that no policy stops, and for one that fails', async () => {
    const problems = await problemsOf('/free')
    expect(problems).toMatch(/another origin: GET http:\/\/127\.0\.0\.1:9\//)
    expect(problems).toMatch(/request failed: GET http:\/\/127\.0\.0\.1:9\/ net::/)
  })

  it('lets a problem pass that the test expects, and fails when an expected problem does not happen', async () => {
    browser.expectProblem(/it broke/)
    expect(await problemsOf('/run/log.js')).toBe('none')
    browser.expectProblem(/it broke/)
    expect(await problemsOf('/')).toMatch(/expected, and did not happen: \/it broke\//)
  })

  it('plays H.264', async () => {
    const opened = await browser.open(origin)
    await opened.goto('/video')
    const video = opened.locator('video')
    await video.evaluate((player: { play(): Promise<void> }) => player.play())
    await expect(video.evaluate(playedSeconds)).resolves.toBeGreaterThan(0)
  })

  it('keeps cookies and storage of one page from another, and its web security on', async () => {
    const [first, second] = [await browser.open(origin), await browser.open(origin)]
    await Promise.all([first.goto('/'), second.goto('/')])
    await first.evaluate("localStorage.setItem('mark', '1')")
    expect(await second.evaluate("localStorage.getItem('mark')")).toBeNull()
    browser.expectProblem(/policy: connect-src/)
    browser.expectProblem(/console: (Connecting|Refused|Fetch API)/)
    const other = origin.replace('127.0.0.1', 'localhost')
    expect(await first.evaluate(`fetch('${other}/').then(() => 'read', () => 'refused')`)).toBe('refused')
  })

  it('names what breaks WCAG 2.2 AA under the strict policy, in both themes', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const opened = await browser.open(origin, { colorScheme })
      await opened.goto('/')
      expect(await accessibilityViolations(opened)).toEqual([])
      await opened.goto('/nameless')
      expect(await accessibilityViolations(opened)).toEqual([
        expect.stringMatching(/^button-name: /),
        expect.stringMatching(/^image-alt: /),
      ])
    }
  })
})

/** Resolves with the position once the video moves. */
async function playedSeconds(video: {
  currentTime: number
  addEventListener(name: string, listener: () => void): void
}): Promise<number> {
  await new Promise<void>((resolve) => video.addEventListener('timeupdate', () => video.currentTime > 0 && resolve()))
  return video.currentTime
}
