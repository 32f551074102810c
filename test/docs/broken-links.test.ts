import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { brokenLinks } from '../../lib/openapi/markdown.ts'

const root = mkdtempSync(join(tmpdir(), 'reelgate-links-'))
afterAll(() => rmSync(root, { recursive: true }))

describe('brokenLinks', () => {
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
