import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

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
