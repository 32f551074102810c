import { describe, expect, it } from '@jest/globals'
import { bundleBudget, weighBundle } from '#aws/bundle-budget.ts'

describe('bundle-budget: weighBundle', () => {
  it('returns kilobytes of 1,000 bytes, of a cold start and in total', () => {
    const files = [
      { name: 'index.mjs', code: 'x'.repeat(1_500), isLoadedAtStart: true },
      { name: 'chunk.mjs', code: 'é'.repeat(1_000), isLoadedAtStart: false },
    ]
    expect(weighBundle({ files, inputs: [] })).toEqual({ atStart: 1.5, deployed: 3.5 })
  })
})

describe('bundle-budget: bundleBudget', () => {
  it('gives every function that serves clients the same budget', () => {
    expect(bundleBudget('api/create-video-job')).toEqual(bundleBudget('pipeline/store-video'))
    expect(bundleBudget('admin-api/write').atStart).toBeGreaterThan(bundleBudget('api/create-video-job').atStart)
  })
})
