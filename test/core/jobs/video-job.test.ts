import { describe, expect, it } from '@jest/globals'
import {
  callbackAttemptView,
  failureTextOf,
  hasEnded,
  inOrder,
  isTerminal,
  isUnwanted,
  isVisible,
  JOB_LIFETIME_SECONDS,
  JOB_RECORD_SECONDS,
  TRANSITIONS,
  unexpiredStatus,
  type VisibleStatus,
  visibleError,
  visibleStatus,
  withReportedPercent,
} from '#core/jobs/video-job.ts'
import { videoJobRecord } from '../../engines/video-jobs.ts'

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

describe('the record of a job', () => {
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

describe('visibleStatus', () => {
  it.each<[VisibleStatus, number]>([
    ['succeeded', -1],
    ['expired', 0],
    ['expired', 1],
  ])('is %s %i seconds after the end of the lifetime', (status, seconds) => {
    const job = videoJobRecord({ status: 'succeeded' })
    expect(visibleStatus(job, job.expiresAt + seconds)).toBe(status)
  })
})

describe('a job that its client has cancelled', () => {
  const open = videoJobRecord({ status: 'processing', cancelledAt: 5 })

  it('reads failed at once, with its error, until it expires', () => {
    expect([unexpiredStatus(open), visibleError(open), hasEnded(open)]).toEqual([
      'failed',
      'cancelled by the client',
      true,
    ])
    expect(visibleStatus(open, open.expiresAt - 1)).toBe('failed')
    expect(visibleStatus(open, open.expiresAt)).toBe('expired')
  })

  it('keeps an error that was recorded at its end', () => {
    expect(visibleError({ ...open, error: 'cancelled by the operator' })).toBe('cancelled by the operator')
  })

  it('is unwanted, like a deleted one', () => {
    const wanted = videoJobRecord({ status: 'processing' })
    expect([open, videoJobRecord({ isDeleted: true }), wanted].map(isUnwanted)).toEqual([true, true, false])
    expect([hasEnded(wanted), visibleError(wanted)]).toEqual([false, ''])
  })
})

describe('failureTextOf', () => {
  it.each([
    ['ReferenceRefusedError', 'a reference breaks a limit of the model'],
    ['SubmitUnknownError', 'submit outcome unknown'],
    ['NoUpstreamCapacityError', 'no upstream capacity'],
    ['GenerationTimedOutError', 'generation timed out'],
    ['TaskGoneError', 'upstream lost the task'],
    ['StoreFailedError', 'result could not be stored'],
    ['ResultNotStoredError', 'result could not be stored'],
    ['ResultNotAVideoError', 'upstream result is not a video'],
    ['JobDeletedError', 'deleted by the client'],
    ['UpstreamRejectedError', 'internal error'],
    ['UpstreamFailedError', 'internal error'],
    ['Lambda.Unknown', 'internal error'],
    ['States.Timeout', 'internal error'],
    ['TypeError', 'internal error'],
    ['constructor', 'internal error'],
    ['__proto__', 'internal error'],
    ['', 'internal error'],
    [undefined, 'internal error'],
  ])('of %s is "%s"', (name, text) => {
    expect(failureTextOf(name)).toBe(text)
  })
})

describe('withReportedPercent: the kept report of an upstream', () => {
  it('begins with the first percentage, and with its time unless the submit brought it', () => {
    expect(withReportedPercent(undefined, 30, 1000)).toEqual({ percent: 30, since: 1000 })
    expect(withReportedPercent(undefined, 0)).toEqual({ percent: 0 })
  })

  it('never decreases, and keeps the time of the first report', () => {
    const first = withReportedPercent(undefined, 30, 1000)
    expect(withReportedPercent(first, 20, 1010)).toEqual({ percent: 30, since: 1000 })
    expect(withReportedPercent(first, 40, 1010)).toEqual({ percent: 40, since: 1000 })
    expect(withReportedPercent({ percent: 0 }, 40, 1010)).toEqual({ percent: 40 })
  })
})

const delivered = { at: 5, attempt: 1, status: 204, milliseconds: 3, delivered: true }

describe('callbackAttemptView', () => {
  it('has null for what an attempt lacks', () => {
    expect(callbackAttemptView(delivered)).toEqual({ ...delivered, error: null })
    const silent = { at: 5, attempt: 2, milliseconds: 15_000, error: 'no response in time', delivered: false }
    expect(callbackAttemptView(silent)).toEqual({ ...silent, status: null })
  })
})

describe('inOrder', () => {
  it('sorts attempts by number and keeps each once', () => {
    const second = { ...delivered, attempt: 2 }
    expect(inOrder([second, delivered, second])).toEqual([delivered, second])
  })
})
