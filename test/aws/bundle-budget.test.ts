import { describe, expect, it } from 'vitest'
import { weighBundle } from '#aws/bundle-budget.ts'

describe('bundle-budget: weighBundle', () => {
  it('returns kilobytes of 1,000 bytes, of a cold start and in total', () => {
    const files = [
      { name: 'index.mjs', code: 'x'.repeat(1_500), isLoadedAtStart: true },
      { name: 'chunk.mjs', code: 'é'.repeat(1_000), isLoadedAtStart: false },
    ]
    expect(weighBundle({ files, inputs: [] })).toEqual({ atStart: 1.5, deployed: 3.5 })
  })
})
