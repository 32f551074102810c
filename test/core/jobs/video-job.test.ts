import { describe, expect, it } from '@jest/globals'
import {
  IllegalTransitionError,
  isTerminal,
  isVisible,
  JOB_LIFETIME_SECONDS,
  JOB_RECORD_SECONDS,
  statusesBefore,
  transition,
  type VideoJobEvent,
  type VideoJobStatus,
} from '#core/jobs/video-job.ts'

const STATUSES: readonly VideoJobStatus[] = ['queued', 'processing', 'succeeded', 'failed']
const EVENTS: readonly VideoJobEvent[] = ['accepted', 'settled', 'released']

/** Every legal move; what is not here is illegal. */
const LEGAL: readonly [VideoJobStatus, VideoJobEvent, VideoJobStatus][] = [
  ['queued', 'accepted', 'processing'],
  ['queued', 'released', 'failed'],
  ['processing', 'settled', 'succeeded'],
  ['processing', 'released', 'failed'],
]

const ILLEGAL = STATUSES.flatMap((status) => EVENTS.map((event) => [status, event] as const)).filter(
  ([status, event]) => !LEGAL.some(([from, trigger]) => from === status && trigger === event),
)

describe('transition', () => {
  it.each(LEGAL)('from %s when %s leads to %s', (status, event, next) => {
    expect(transition(status, event)).toBe(next)
  })

  it.each(ILLEGAL)('from %s when %s does not exist', (status, event) => {
    expect(() => transition(status, event)).toThrow(IllegalTransitionError)
  })

  it('counts twelve moves in all', () => {
    expect(LEGAL.length + ILLEGAL.length).toBe(12)
  })
})

describe('statusesBefore', () => {
  it.each([
    ['accepted', ['queued']],
    ['settled', ['processing']],
    ['released', ['queued', 'processing']],
  ] as const)('%s are %j', (event, statuses) => {
    expect(statusesBefore(event)).toStrictEqual(statuses)
  })

  it('agrees with transition', () => {
    for (const event of EVENTS) {
      const from = LEGAL.filter(([, trigger]) => trigger === event).map(([status]) => status)
      expect(statusesBefore(event)).toStrictEqual(from)
    }
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
