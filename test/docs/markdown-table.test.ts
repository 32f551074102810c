import { describe, expect, it } from 'vitest'
import { markdownTable } from '../../lib/openapi/markdown.ts'

describe('markdownTable', () => {
  it('escapes bars inside cells', () => {
    expect(markdownTable(['A', 'B'], [['`x|y`', 'z']])).toBe('| A | B |\n|---|---|\n| `x\\|y` | z |')
  })

  it('is empty without rows', () => {
    expect(markdownTable(['A'], [])).toBe('')
  })
})
