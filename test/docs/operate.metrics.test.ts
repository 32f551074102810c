import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { COUNTED_FACTS, MEASURES } from '#core/measures.ts'

const page = readFileSync(new URL('../../docs/operate.md', import.meta.url), 'utf8')

/** The names in the first column of a section's table. */
function namesOf(heading: string): string[] {
  const [, rest = ''] = page.split(`\n## ${heading}\n`)
  const [section = ''] = rest.split('\n## ')
  const rows = [...section.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell]) => String(cell))
  return rows.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => String(name)))
}

describe('docs/operate.md', () => {
  it('has a row for each counted fact, and for nothing else', () => {
    expect(namesOf('What is counted').toSorted()).toEqual([...COUNTED_FACTS].toSorted())
  })

  it('has a row for each measure, and for nothing else', () => {
    expect(namesOf('What is measured').toSorted()).toEqual(MEASURES.toSorted())
  })
})
