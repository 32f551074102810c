import type { Locator, Page } from 'playwright-core'
import { vi } from 'vitest'
import { signedIn } from './console-host.ts'

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
  await vi.waitUntil(
    async () => {
      await page.reload()
      await loaded(page)
      return await shown.isVisible()
    },
    { timeout: 20_000, interval: 200 },
  )
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
