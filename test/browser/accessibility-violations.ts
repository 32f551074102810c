import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

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
