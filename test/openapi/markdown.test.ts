import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { brokenLinks, markdownTable, withSection } from '../../lib/openapi/markdown.ts'

describe('markdownTable', () => {
  it('escapes bars inside cells', () => {
    expect(markdownTable(['A', 'B'], [['`x|y`', 'z']])).toBe('| A | B |\n|---|---|\n| `x\\|y` | z |')
  })

  it('is empty without rows', () => {
    expect(markdownTable(['A'], [])).toBe('')
  })
})

const TABLE = { name: 'alarms', command: 'tables', content: '| new |' } as const

describe('a generated section', () => {
  it('replaces what is between its markers and nothing else, however often it is written', () => {
    const page = '# Title\n\n<!-- alarms: written by npm run tables -->\nold\n<!-- end of alarms -->\n\nAfter.\n'
    const once = withSection(page, TABLE)
    expect(once).toBe(
      '# Title\n\n<!-- alarms: written by npm run tables -->\n\n| new |\n\n<!-- end of alarms -->\n\nAfter.\n',
    )
    expect(withSection(once, TABLE)).toBe(once)
  })

  it('refuses a page without its markers', () => {
    expect(() => withSection('# Title\n', TABLE)).toThrow('the page has no')
  })
})

describe('brokenLinks', () => {
  const root = mkdtempSync(join(tmpdir(), 'reelgate-links-'))
  afterAll(() => rmSync(root, { recursive: true }))

  it('names links to missing files and missing headings, and no others', () => {
    mkdirSync(join(root, 'docs'))
    writeFileSync(join(root, 'docs', 'b.md'), '# A `B`, and C\n\n[up](../README.md#one)\n')
    writeFileSync(
      join(root, 'README.md'),
      '# One\n\n[b](docs/b.md) [head](docs/b.md#a-b-and-c) [own](#one) [web](https://example.com/x)\n' +
        '[gone](docs/c.md) [no head](docs/b.md#two)\n\n```md\n[code](docs/d.md)\n```\n',
    )
    expect(brokenLinks(root)).toEqual(['README.md: docs/c.md', 'README.md: docs/b.md#two'])
  })
})
