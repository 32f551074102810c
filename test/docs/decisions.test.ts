import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

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
