import { describe, expect, it } from 'vitest'
import { isTerminal, isVisible, JOB_LIFETIME_SECONDS, JOB_RECORD_SECONDS, TRANSITIONS } from '#core/jobs/video-job.ts'

describe('TRANSITIONS', () => {
  it('are the lifecycle: a job is created once, accepted before it can succeed, and may fail until it has ended', () => {
    expect(TRANSITIONS).toStrictEqual({
      created: { from: [], to: 'queued' },
      accepted: { from: ['queued'], to: 'processing' },
      settled: { from: ['processing'], to: 'succeeded' },
      billed: { from: ['processing'], to: 'failed' },
      released: { from: ['queued', 'processing'], to: 'failed' },
    })
  })

  it('lead out of no job that has ended', () => {
    const found = Object.values(TRANSITIONS).flatMap(({ from }) => from)
    expect(found.filter((status) => isTerminal({ status }))).toStrictEqual([])
  })
})

describe('isTerminal', () => {
  it.each([
    ['queued', false],
    ['processing', false],
    ['succeeded', true],
    ['failed', true],
  ] as const)('of %s is %j', (status, expected) => {
    expect(isTerminal({ status })).toBe(expected)
  })
})

describe('a record', () => {
  const createdAt = 1_776_678_917

  it('expires after seven days and is kept for thirty', () => {
    expect(JOB_LIFETIME_SECONDS).toBe(604_800)
    expect(JOB_RECORD_SECONDS).toBe(2_592_000)
  })

  it.each([
    [0, true],
    [JOB_LIFETIME_SECONDS, true],
    [JOB_RECORD_SECONDS - 1, true],
    [JOB_RECORD_SECONDS, false],
    [JOB_RECORD_SECONDS + 1, false],
  ])('%i seconds after its creation is visible: %j', (seconds, expected) => {
    expect(isVisible({ isDeleted: false, createdAt }, createdAt + seconds)).toBe(expected)
  })

  it('is not visible once deleted', () => {
    expect(isVisible({ isDeleted: true, createdAt }, createdAt)).toBe(false)
  })
})
