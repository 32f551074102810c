import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  admitCall,
  type BreakerReport,
  type BreakerState,
  CLOSED_BREAKER,
  reportCall,
  restMilliseconds,
} from '#core/relay/breaker.ts'

const settings = { failures: 3, pause_seconds: 10 }
const PAUSE = 10_000

const failedAt = (nowMilliseconds: number, failuresBefore = 0): BreakerReport => ({
  kind: 'failed',
  nowMilliseconds,
  failuresBefore,
})

/** A breaker and what calls do with it. */
function breaker(state: BreakerState = CLOSED_BREAKER) {
  return {
    admit(nowMilliseconds: number): number | undefined {
      const admitted = admitCall(state, settings, nowMilliseconds)
      state = admitted.state
      return admitted.epoch
    },
    report(epoch: number | undefined, report: BreakerReport): void {
      if (epoch === undefined) {
        throw new Error('only a call that was let in reports')
      }
      state = reportCall(state, epoch, { report, settings })
    },
    rest: (nowMilliseconds: number) => restMilliseconds(state, settings, nowMilliseconds),
    get kind() {
      return state.kind
    },
  }
}

type Subject = ReturnType<typeof breaker>

function fail(subject: Subject, now: number, times = 1): void {
  for (let time = 0; time < times; time += 1) {
    subject.report(subject.admit(now), failedAt(now))
  }
}

/** A breaker that opened at 0. */
function opened(): Subject {
  const subject = breaker()
  fail(subject, 0, settings.failures)
  return subject
}

describe('a breaker that takes any number of failures', () => {
  it('never opens, so that the failures of one test are not told to the next', () => {
    const never = { failures: 0, pause_seconds: 10 }
    let state = CLOSED_BREAKER
    for (let call = 0; call < 2_000; call += 1) {
      const admitted = admitCall(state, never, call)
      expect(admitted.epoch).toBe(0)
      state = reportCall(admitted.state, 0, { report: failedAt(call, call), settings: never })
    }
    expect(state.kind).toBe('closed')
    expect(restMilliseconds(state, never, 0)).toBe(0)
  })
})

describe('a closed breaker', () => {
  it('opens with the last of so many failures in a row, and not before', () => {
    const subject = breaker()
    fail(subject, 0, settings.failures - 1)
    expect(subject.kind).toBe('closed')
    fail(subject, 0)
    expect(subject.kind).toBe('open')
  })

  it('begins to count anew after an answer that came to its end', () => {
    const subject = breaker()
    fail(subject, 0, settings.failures - 1)
    subject.report(subject.admit(0), { kind: 'completed' })
    fail(subject, 0, settings.failures - 1)
    expect(subject.kind).toBe('closed')
  })

  it('is opened by streams of which each begins well and breaks off', () => {
    const subject = breaker()
    for (let call = 0; call < settings.failures; call += 1) {
      const epoch = subject.admit(0)
      subject.report(epoch, { kind: 'answered' })
      subject.report(epoch, failedAt(0))
    }
    expect(subject.kind).toBe('open')
  })

  it('is opened by streams of which each ends without its last event', () => {
    const subject = breaker()
    for (let call = 0; call < settings.failures; call += 1) {
      const epoch = subject.admit(0)
      subject.report(epoch, { kind: 'answered' })
      subject.report(epoch, { kind: 'completed' })
      subject.report(epoch, failedAt(0, call))
    }
    expect(subject.kind).toBe('open')
  })

  it('is not moved by what says nothing about the channel', () => {
    const subject = breaker()
    fail(subject, 0, settings.failures - 1)
    for (let call = 0; call < 10; call += 1) {
      subject.report(subject.admit(0), { kind: 'undecided' })
    }
    expect(subject.kind).toBe('closed')
    fail(subject, 0)
    expect(subject.kind).toBe('open')
  })
})

describe('an open breaker', () => {
  it('lets nobody in until its pause is over', () => {
    const subject = opened()
    expect(subject.admit(PAUSE - 1)).toBeUndefined()
    expect(subject.admit(PAUSE)).toBeDefined()
  })

  it('says how long it stays so', () => {
    const subject = opened()
    expect([0, 9_999, 10_000, 20_000].map(subject.rest)).toStrictEqual([10_000, 1, 0, 0])
  })

  it('is not kept open by a clock that was set back', () => {
    const subject = opened()
    expect(subject.rest(-1)).toBe(0)
    expect(subject.admit(-1)).toBeDefined()
  })

  it.each<BreakerReport>([{ kind: 'completed' }, { kind: 'answered' }, { kind: 'undecided' }, failedAt(9_000)])(
    'ignores the late report %j of a call from before',
    (report) => {
      const subject = breaker()
      const late = subject.admit(0)
      fail(subject, 0, settings.failures)
      subject.report(late, report)
      expect(subject.rest(0)).toBe(PAUSE)
    },
  )
})

describe('a half-open breaker', () => {
  it('lets one call try at a time', () => {
    const subject = opened()
    expect(subject.admit(PAUSE)).toBeDefined()
    expect(subject.admit(PAUSE)).toBeUndefined()
    expect(subject.admit(PAUSE * 100)).toBeUndefined()
  })

  it.each<BreakerReport>([{ kind: 'answered' }, { kind: 'completed' }])('closes when the trial has %j', (report) => {
    const subject = opened()
    subject.report(subject.admit(PAUSE), report)
    expect(subject.kind).toBe('closed')
    expect(subject.admit(PAUSE)).toBe(subject.admit(PAUSE))
  })

  it('opens for another whole pause when the trial fails', () => {
    const subject = opened()
    subject.report(subject.admit(PAUSE), failedAt(PAUSE + 500))
    expect(subject.rest(PAUSE + 500)).toBe(PAUSE)
    expect(subject.admit(PAUSE * 2)).toBeUndefined()
  })

  it('opens again when the answer of the trial breaks off after it began', () => {
    const subject = opened()
    const trial = subject.admit(PAUSE)
    subject.report(trial, { kind: 'answered' })
    subject.report(trial, failedAt(PAUSE + 1))
    expect(subject.kind).toBe('open')
  })

  it('counts from nothing once the answer of the trial came to its end', () => {
    const subject = opened()
    const trial = subject.admit(PAUSE)
    subject.report(trial, { kind: 'answered' })
    subject.report(trial, { kind: 'completed' })
    fail(subject, PAUSE, settings.failures - 1)
    expect(subject.kind).toBe('closed')
  })

  it('frees the place of a trial that says nothing about the channel', () => {
    const subject = opened()
    subject.report(subject.admit(PAUSE), { kind: 'undecided' })
    expect(subject.admit(PAUSE)).toBeDefined()
    expect(subject.admit(PAUSE)).toBeUndefined()
  })

  it.each<BreakerReport>([{ kind: 'completed' }, { kind: 'answered' }, { kind: 'undecided' }, failedAt(PAUSE)])(
    'is moved by its trial alone, not by the late report %j of a call from before',
    (report) => {
      const subject = breaker()
      const late = subject.admit(0)
      fail(subject, 0, settings.failures)
      subject.admit(PAUSE)
      subject.report(late, report)
      expect(subject.kind).toBe('half_open')
    },
  )
})

describe('whatever calls do', () => {
  const step = fc.record({
    wait: fc.nat({ max: 8_000 }),
    do: fc.constantFrom('admit', 'answered', 'completed', 'failed', 'undecided'),
    call: fc.nat({ max: 5 }),
  })

  it('at most one trial is out, and a breaker whose calls have all ended lets a call in after one pause', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const subject = breaker()
        const open: { epoch: number; isTrial: boolean }[] = []
        let now = 0
        const report = (epoch: number, kind: string) =>
          subject.report(epoch, kind === 'failed' ? failedAt(now) : { kind: 'undecided' })
        for (const { wait, do: action, call } of steps) {
          now += wait
          const chosen = open[call]
          if (action === 'admit') {
            const epoch = subject.admit(now)
            if (epoch !== undefined) {
              const isTrial = subject.kind === 'half_open'
              expect(isTrial && open.some((other) => other.isTrial)).toBe(false)
              open.push({ epoch, isTrial })
            }
          } else if (chosen !== undefined && (action === 'answered' || action === 'completed')) {
            subject.report(chosen.epoch, { kind: action })
            // An answer ends the trial, and the call may go on.
            chosen.isTrial = false
          } else if (chosen !== undefined) {
            report(chosen.epoch, action)
            open.splice(call, 1)
          }
        }
        for (const { epoch } of open) {
          report(epoch, 'undecided')
        }
        expect(subject.admit(now + PAUSE)).toBeDefined()
      }),
    )
  })
})
