import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  admitCall,
  type BreakerReport,
  type BreakerScope,
  type BreakerState,
  CLOSED_BREAKER,
  NO_FAILURES,
  reportCall,
  restMilliseconds,
} from '#core/relay/breaker.ts'

const settings = { failures: 3, pause_seconds: 10 }
const PAUSE = 10_000
const TRIAL = 2_000

const failedAt = (nowMilliseconds: number, failuresBefore = 0, tenantId = 'one'): BreakerReport => ({
  kind: 'failed',
  tenantId,
  nowMilliseconds,
  before: { ...NO_FAILURES, failures: failuresBefore },
})

/** A breaker, of one tenant unless said otherwise, and what calls do with it. */
function breaker(scope: BreakerScope = 'tenant') {
  const rule = { ...settings, scope }
  let state: BreakerState = CLOSED_BREAKER
  const rest = (nowMilliseconds: number, tenantId = 'one') =>
    restMilliseconds(state, rule, { tenantId, nowMilliseconds })
  const admitAnyway = (nowMilliseconds: number, tenantId = 'one') => {
    state = admitCall(state, rule, { tenantId, nowMilliseconds })
    return state.epoch
  }
  return {
    admit: (nowMilliseconds: number, tenantId = 'one'): number | undefined =>
      rest(nowMilliseconds, tenantId) > 0 ? undefined : admitAnyway(nowMilliseconds, tenantId),
    admitAnyway,
    report(epoch: number | undefined, report: BreakerReport): void {
      if (epoch === undefined) {
        throw new Error('only a call that was let in reports')
      }
      state = reportCall(state, epoch, { report, settings: rule })
    },
    rest,
    get kind() {
      return state.kind
    },
  }
}

type Subject = ReturnType<typeof breaker>

function fail(subject: Subject, now: number, times = 1, tenantId = 'one'): void {
  for (let time = 0; time < times; time += 1) {
    subject.report(subject.admit(now, tenantId), failedAt(now, 0, tenantId))
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
    const never = { failures: 0, pause_seconds: 10, scope: 'tenant' as const }
    let state = CLOSED_BREAKER
    for (let call = 0; call < 2_000; call += 1) {
      const admitted = admitCall(state, never, { tenantId: 'one', nowMilliseconds: call })
      expect(admitted.epoch).toBe(0)
      state = reportCall(admitted, 0, { report: failedAt(call, call), settings: never })
    }
    expect(state.kind).toBe('closed')
    expect(restMilliseconds(state, never, { tenantId: 'one', nowMilliseconds: 0 })).toBe(0)
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
      subject.report(epoch, { kind: 'begun' })
      subject.report(epoch, failedAt(0))
    }
    expect(subject.kind).toBe('open')
  })

  it('is opened by streams of which each ends without its last event', () => {
    const subject = breaker()
    for (let call = 0; call < settings.failures; call += 1) {
      const epoch = subject.admit(0)
      subject.report(epoch, { kind: 'begun' })
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
    expect([0, 9_999, 10_000, 20_000].map((now) => subject.rest(now))).toStrictEqual([10_000, 1, 0, 0])
  })

  it('is not kept open by a clock that was set back', () => {
    const subject = opened()
    expect(subject.rest(-1)).toBe(0)
    expect(subject.admit(-1)).toBeDefined()
  })

  it.each<BreakerReport>([{ kind: 'completed' }, { kind: 'begun' }, { kind: 'undecided' }, failedAt(9_000)])(
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
  it('lets one call try, and two seconds later the next one as well', () => {
    const subject = opened()
    expect(subject.admit(PAUSE)).toBeDefined()
    expect(subject.admit(PAUSE + TRIAL - 1)).toBeUndefined()
    expect(subject.admit(PAUSE + TRIAL)).toBeDefined()
    expect(subject.admit(PAUSE + TRIAL)).toBeUndefined()
  })

  it('closes when any of its trials succeeds', () => {
    const subject = opened()
    const first = subject.admit(PAUSE)
    const second = subject.admit(PAUSE + TRIAL)
    subject.report(second, { kind: 'undecided' })
    subject.report(first, { kind: 'completed' })
    expect(subject.kind).toBe('closed')
  })

  it.each<BreakerReport>([{ kind: 'begun' }, { kind: 'completed' }])('closes when the trial has %j', (report) => {
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
    subject.report(trial, { kind: 'begun' })
    subject.report(trial, failedAt(PAUSE + 1))
    expect(subject.kind).toBe('open')
  })

  it('counts from nothing once the answer of the trial came to its end', () => {
    const subject = opened()
    const trial = subject.admit(PAUSE)
    subject.report(trial, { kind: 'begun' })
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

  it.each<BreakerReport>([{ kind: 'completed' }, { kind: 'begun' }, { kind: 'undecided' }, failedAt(PAUSE)])(
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

describe('an open breaker whose channel is tried anyway', () => {
  it('closes when such a call succeeds', () => {
    const subject = opened()
    subject.report(subject.admitAnyway(1), { kind: 'completed' })
    expect(subject.kind).toBe('closed')
  })

  it('does not pause longer when such a call fails', () => {
    const subject = opened()
    subject.report(subject.admitAnyway(PAUSE - 1), failedAt(PAUSE - 1))
    expect(subject.rest(PAUSE)).toBe(0)
  })
})

describe('the breaker of all tenants', () => {
  /** Opened at 0 by two tenants. */
  const openedByTwo = () => {
    const subject = breaker('all')
    fail(subject, 0, settings.failures - 1, 'one')
    fail(subject, 0, 1, 'two')
    return subject
  }

  it('stays closed however often the requests of one tenant fail', () => {
    const subject = breaker('all')
    fail(subject, 0, settings.failures * 10)
    expect(subject.kind).toBe('closed')
  })

  it('opens with the failures of two tenants in a row', () => {
    expect(openedByTwo().rest(0, 'three')).toBe(PAUSE)
  })

  it('stays closed when one tenant fails often and another once', () => {
    const rule = { failures: 5, pause_seconds: 10, scope: 'all' as const }
    let state: BreakerState = CLOSED_BREAKER
    const failAs = (tenantId: string) => {
      state = reportCall(state, state.epoch, { report: failedAt(0, 0, tenantId), settings: rule })
    }
    for (let failure = 0; failure < 100; failure += 1) {
      failAs('one')
    }
    failAs('two')
    expect(state.kind).toBe('closed')
    failAs('two')
    expect(state.kind).toBe('open')
  })

  it('begins to count tenants anew after a success', () => {
    const subject = breaker('all')
    fail(subject, 0, settings.failures, 'one')
    subject.report(subject.admit(0, 'two'), { kind: 'completed' })
    fail(subject, 0, settings.failures, 'two')
    expect(subject.kind).toBe('closed')
  })

  it('takes a failure after completion back with the tenants of its row', () => {
    const subject = breaker('all')
    fail(subject, 0, settings.failures - 1, 'one')
    const epoch = subject.admit(0, 'two')
    subject.report(epoch, { kind: 'completed' })
    const before = { failures: settings.failures - 1, tenants: ['one'] }
    subject.report(epoch, { kind: 'failed', tenantId: 'two', nowMilliseconds: 0, before })
    expect(subject.kind).toBe('open')
  })

  it('is not opened again by failed trials of one tenant', () => {
    const subject = openedByTwo()
    for (let trial = 0; trial < 5; trial += 1) {
      fail(subject, PAUSE + trial * TRIAL * 2, 1, 'one')
    }
    expect(subject.rest(PAUSE + TRIAL * 8, 'two')).toBe(0)
    fail(subject, PAUSE + TRIAL * 8, 1, 'two')
    expect(subject.kind).toBe('open')
  })

  it('leaves every other two seconds to the others when the trials of one tenant hang', () => {
    const subject = openedByTwo()
    subject.admit(PAUSE, 'one')
    expect(subject.admit(PAUSE + TRIAL, 'one')).toBeUndefined()
    expect(subject.admit(PAUSE + TRIAL, 'two')).toBeDefined()
    expect(subject.admit(PAUSE + TRIAL * 2, 'one')).toBeDefined()
  })

  it.each<BreakerReport>([{ kind: 'undecided' }, failedAt(PAUSE + 1_900, 0, 'one')])(
    'leaves the others the rest of four seconds after a trial that ended with %j',
    (report) => {
      const subject = openedByTwo()
      subject.report(subject.admit(PAUSE, 'one'), report)
      expect(subject.rest(PAUSE + 1_900, 'one')).toBe(TRIAL * 2 - 1_900)
      expect(subject.rest(PAUSE + 1_900, 'two')).toBe(0)
    },
  )
})

describe('whatever calls do', () => {
  const step = fc.record({
    wait: fc.nat({ max: 8_000 }),
    do: fc.constantFrom(
      'admit' as const,
      'begun' as const,
      'completed' as const,
      'failed' as const,
      'undecided' as const,
    ),
    call: fc.nat({ max: 5 }),
    tenantId: fc.constantFrom('one', 'two', 'three'),
  })
  type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

  /** Plays calls that are admitted, report and end. @returns the time after the last step. */
  function play(subject: Subject, steps: readonly Step[], check: (now: number) => void): number {
    const open: { epoch: number; tenantId: string }[] = []
    let now = 0
    for (const { wait, do: action, call, tenantId } of steps) {
      now += wait
      const chosen = open[call]
      if (action === 'admit') {
        const epoch = subject.admit(now, tenantId)
        if (epoch !== undefined) {
          open.push({ epoch, tenantId })
        }
      } else if (chosen !== undefined) {
        subject.report(chosen.epoch, action === 'failed' ? failedAt(now, 0, chosen.tenantId) : { kind: action })
        if (action === 'failed' || action === 'undecided') {
          open.splice(call, 1)
        }
      }
      check(now)
    }
    return now
  }

  it('a breaker lets a call in after one pause, and during its trials the calls of others within two seconds', () => {
    fc.assert(
      fc.property(fc.constantFrom('tenant', 'all'), fc.array(step, { maxLength: 60 }), (scope, steps) => {
        const subject = breaker(scope)
        const now = play(subject, steps, (at) => {
          const longest = subject.kind === 'closed' ? 0 : subject.kind === 'open' ? PAUSE : TRIAL
          expect(subject.rest(at, 'another')).toBeLessThanOrEqual(longest)
        })
        expect(subject.admit(now + PAUSE)).toBeDefined()
      }),
    )
  })

  it('one tenant whose calls fail never opens the breaker of all', () => {
    const oneFails = ({ tenantId, ...rest }: Step): Step =>
      rest.do === 'failed' || rest.do === 'admit' ? { ...rest, tenantId: 'one' } : { ...rest, tenantId }
    fc.assert(
      fc.property(fc.array(step.map(oneFails), { maxLength: 60 }), (steps) => {
        const subject = breaker('all')
        play(subject, steps, () => expect(subject.kind).toBe('closed'))
      }),
    )
  })
})
