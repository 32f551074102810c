import { describe, expect, it } from 'vitest'
import { progressOf, proxyStatus } from '../../../lib/simulators/p2-proxy/p2-proxy-words.ts'

const PHASES = ['waiting', 'running', 'succeeded', 'failed', 'cancelled', 'expired'] as const

describe('p2-proxy-words', () => {
  it.each([
    ['task', 'pending processing succeeded failed cancelled expired'],
    ['unified', 'pending processing completed failed cancelled failed'],
    ['wrapped', 'NOT_START IN_PROGRESS SUCCESS FAILURE FAILURE FAILURE'],
    ['creator', 'queued running completed failed cancelled failed'],
    ['raw', 'queued running succeeded failed cancelled expired'],
  ] as const)('are those of the shape %s', (shape, words) => {
    expect(PHASES.map((phase) => proxyStatus(phase, shape, 'usual')).join(' ')).toBe(words)
  })

  it('are the same rare ones in every shape', () => {
    const rare = PHASES.map((phase) => proxyStatus(phase, 'wrapped', 'rare'))
    expect(rare).toEqual(PHASES.map((phase) => proxyStatus(phase, 'raw', 'rare')))
    expect(rare[2]).toBe('success')
  })

  it('come with the progress in percent', () => {
    expect(PHASES.map(progressOf)).toEqual([0, 50, 100, 100, 100, 100])
  })
})
