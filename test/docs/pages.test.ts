import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'

const DOCS = new URL('../../docs/', import.meta.url)
const PAGE = readFileSync(new URL('reliability.md', DOCS), 'utf8')

const ROWS = Array.from({ length: 55 }, (_, index) => index + 1)

type Named = { readonly title: string; readonly file: string }

function namedTests(): Named[] {
  const links = PAGE.matchAll(/\[([^\]]+)\]\((\.\.\/test\/[^)]+\.test\.ts)\)/g)
  return [...links].map(([, title = '', file = '']) => ({ title, file }))
}

/** In source, quotes inside a title may be escaped. */
function sourceOf(file: string): string {
  const url = new URL(file, DOCS)
  return existsSync(url) ? readFileSync(url, 'utf8').replaceAll(/\\(['"`])/g, '$1') : ''
}

describe('docs/reliability.md', () => {
  it('has one row for every fault of the list', () => {
    const numbers = [...PAGE.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number))
    expect(numbers).toEqual(ROWS)
  })

  it('has its rows on the relay, the console, the guard, isolation, durability and the stack', () => {
    const others = [...PAGE.matchAll(/^\| ([RCGILS])\d+ \|/gm)].map(([, part = '']) => part)
    expect(
      Object.fromEntries(
        ['R', 'C', 'G', 'I', 'L', 'S'].map((part) => [part, others.filter((each) => each === part).length]),
      ),
    ).toEqual({
      ...{ R: 35, C: 13, G: 7, I: 6 },
      ...{ L: 4, S: 7 },
    })
  })

  it('names only tests that exist, by their titles', () => {
    const missing = namedTests().filter(({ title, file }) => !sourceOf(file).includes(title))
    expect(missing).toEqual([])
    expect(namedTests().length).toBeGreaterThan(ROWS.length)
  })
})

const ROOT = join(import.meta.dirname, '..', '..')
const DECISIONS = join(ROOT, 'docs', 'decisions')
const FILES = readdirSync(DECISIONS)
  .filter((name) => name !== 'README.md')
  .toSorted()
const LIST = readFileSync(join(DECISIONS, 'README.md'), 'utf8')

describe('docs/decisions', () => {
  it('are at most thirty, each with a number of its own', () => {
    expect(FILES.length).toBeLessThanOrEqual(30)
    expect(new Set(FILES.map((name) => name.slice(0, 4))).size).toBe(FILES.length)
  })

  it.each(FILES)('%s has its number and title as heading, and a row in the list', (name) => {
    const [heading = ''] = readFileSync(join(DECISIONS, name), 'utf8').split('\n')
    const title = heading.replace(/^# \d+\. /, '')
    expect(heading).toBe(`# ${Number(name.slice(0, 4))}. ${title}`)
    expect(LIST).toContain(`| ${name.slice(0, 4)} | [${title}](${name}) |`)
  })

  it('are all there when the code cites them', () => {
    const numbers = new Set(FILES.map((name) => name.slice(0, 4)))
    const cited = ['lambdas', 'lib', 'bin', 'test', 'bench'].flatMap((folder) => citations(join(ROOT, folder)))
    expect(cited.length).toBeGreaterThan(0)
    expect(cited.filter((number) => !numbers.has(number))).toEqual([])
  })
})

function citations(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
    .flatMap((path) => [
      ...readFileSync(join(folder, path), 'utf8').matchAll(/docs\/decisions\/(\d{4})|\bdecision (\d+)/g),
    ])
    .map(([, number, bare = '']) => number ?? bare.padStart(4, '0'))
}

describe('pages that the code cites', () => {
  const ROOT = join(import.meta.dirname, '..', '..')

  /** A page that code cites, with the heading beside it: `docs/api.md, "Images"` or `docs/architecture.md ("Table")`. */
  const CITATION = /(docs\/[a-z]+\.md)(?:,? \(?"([^"]+)")?/g

  const PAGES = new Map(
    readdirSync(join(ROOT, 'docs'))
      .filter((name) => name.endsWith('.md'))
      .map((name) => [`docs/${name}`, headingsOf(readFileSync(join(ROOT, 'docs', name), 'utf8'))]),
  )

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

  it('exist, with the headings that the code names', () => {
    const cited = ['lambdas', 'lib', 'bin', 'bench'].flatMap((folder) => citations(join(ROOT, folder)))
    expect(cited.length).toBeGreaterThan(0)
    expect(cited.filter(({ page, heading }) => !isThere(page, heading))).toEqual([])
  })
})
