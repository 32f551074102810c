import { type Browser, chromium } from 'playwright-core'
import { unpackChromium } from './unpack-chromium.ts'

/**
 * Not the package's own flags: they are for Lambda, end the browser with its first page, and switch off web security, so that every test
 * of cookies and origins would pass for the wrong reason. The user of a container is root, which Chromium's sandbox refuses.
 */
const FLAGS = ['--no-sandbox', '--headless=shell', '--disable-gpu']

/** Slow enough to follow. */
const WATCHED_MILLISECONDS = 300

/**
 * Starts the Chromium that `npm ci` installed, without a window. `REELGATE_BROWSER=/usr/bin/chromium` starts that one in its place,
 * slowly and in a window, for a person who wants to watch.
 */
export async function launchChromium(): Promise<Browser> {
  const watched = process.env.REELGATE_BROWSER
  if (watched !== undefined) {
    return chromium.launch({ executablePath: watched, headless: false, slowMo: WATCHED_MILLISECONDS })
  }
  const { executablePath, environment } = await unpackChromium()
  return chromium.launch({ executablePath, args: FLAGS, env: { ...process.env, ...environment } })
}
