import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')

/** A page that code cites, with the heading beside it: `docs/api.md, "Images"` or `docs/architecture.md ("Table")`. */
const CITATION = /(docs\/[a-z]+\.md)(?:,? \(?"([^"]+)")?/g

const PAGES = new Map(
  readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => [`docs/${name}`, headingsOf(readFileSync(join(ROOT, 'docs', name), 'utf8'))]),
)

describe('pages that the code cites', () => {
  it('exist, with the headings that the code names', () => {
    const cited = ['lambdas', 'lib', 'bin', 'bench'].flatMap((folder) => citations(join(ROOT, folder)))
    expect(cited.length).toBeGreaterThan(0)
    expect(cited.filter(({ page, heading }) => !isThere(page, heading))).toEqual([])
  })
})

function isThere(page: string, heading: string | undefined): boolean {
  const headings = PAGES.get(page)
  return headings !== undefined && (heading === undefined || headings.has(heading))
}

function headingsOf(markdown: string): ReadonlySet<string> {
  return new Set([...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading))
}

function citations(folder: string): { readonly page: string; readonly heading: string | undefined }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
    .flatMap((path) => [...readFileSync(join(folder, path), 'utf8').matchAll(CITATION)])
    .map(([, page = '', heading]) => ({ page, heading }))
}
