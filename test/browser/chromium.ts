import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'

const REPOSITORY = join(import.meta.dirname, '../..')
const PACKAGE = join(REPOSITORY, 'node_modules/@sparticuz/chromium')
const CACHE = join(REPOSITORY, 'node_modules/.cache/reelgate')

/** An unpacked Chromium, and the environment variables that it needs on this machine. */
export type UnpackedChromium = {
  readonly executablePath: string
  readonly environment: Readonly<Record<string, string>>
}

/**
 * Unpacks the Chromium of `@sparticuz/chromium` once for each version of the package, in two seconds, below `cache`. Processes that start
 * at once each unpack into a folder of their own; the first one to finish renames it, so nobody sees half a browser.
 * @throws Error on a system without a build of Chromium in the package.
 */
export async function unpackChromium(cache = CACHE): Promise<UnpackedChromium> {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'))
  const directory = join(cache, `chromium-${version}`)
  if (!existsSync(directory)) {
    mkdirSync(cache, { recursive: true })
    const staging = mkdtempSync(join(cache, 'unpacking-'))
    try {
      await unpackInto(staging)
      writeFileSync(join(staging, 'fonts.conf'), fontSettings(directory))
      publish(staging, directory)
    } finally {
      rmSync(staging, { recursive: true, force: true })
    }
  }
  const executablePath = join(directory, 'chromium')
  return { executablePath, environment: await environmentFor(directory, executablePath) }
}

/** In a process of its own, because the package unpacks into the temporary directory of the process. */
async function unpackInto(directory: string): Promise<void> {
  const script = `
    import chromium, { inflate } from '@sparticuz/chromium'
    await chromium.executablePath()
    await inflate(${JSON.stringify(join(PACKAGE, 'bin/al2023.tar.br'))})`
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: REPOSITORY,
    env: { PATH: process.env.PATH, TMPDIR: directory },
  })
}

/** Another process may have been first; its folder is as good. */
function publish(staging: string, directory: string): void {
  try {
    renameSync(staging, directory)
  } catch (error) {
    if (!existsSync(directory)) {
      throw error
    }
  }
}

/** The font of the package comes first, so that pages look alike on every machine. The package's own file names folders of Lambda. */
function fontSettings(directory: string): string {
  const prefer = (family: string, font: string) =>
    `<alias binding="strong"><family>${family}</family><prefer><family>${font}</family></prefer></alias>`
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${directory}/fonts/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${directory}/font-cache</cachedir>
  ${['sans-serif', 'system-ui'].map((family) => prefer(family, 'Open Sans')).join('\n  ')}
  ${prefer('monospace', 'DejaVu Sans Mono')}
</fontconfig>
`
}

/** The libraries of the package (NSS and others) serve machines that lack one of them; the machine's own are used where all are there. */
async function environmentFor(directory: string, executablePath: string): Promise<Record<string, string>> {
  const fonts = { FONTCONFIG_FILE: join(directory, 'fonts.conf') }
  const own = { ...fonts, LD_LIBRARY_PATH: join(directory, 'al2023/lib') }
  for (const environment of [fonts, own]) {
    if (await starts(executablePath, environment)) {
      return environment
    }
  }
  throw new Error(
    `${executablePath} does not start on this machine: run it with --version to see why (it is built for Linux x64 with glibc)`,
  )
}

async function starts(executablePath: string, environment: Record<string, string>): Promise<boolean> {
  try {
    await promisify(execFile)(executablePath, ['--version'], { env: { ...process.env, ...environment } })
    return true
  } catch {
    return false
  }
}

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
