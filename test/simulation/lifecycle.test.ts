import { describe, expect, it } from '@jest/globals'
import { useOpened } from '../engines/use-opened.ts'
import { FAULTS } from './faults.ts'
import { GUARDS, type Guard, SUSPENSION_GUARDS } from './guards.ts'
import { describeFailure, type HistoryOptions, openSimulation } from './open-simulation.ts'
import { REGRESSIONS } from './regressions.ts'
import type { Outcome } from './run-history.ts'

/** How many histories run here; `npm run test:long` runs thousands. */
const HISTORIES = 8
/** These few have every fault, every response and a suspension. */
const FIRST_HISTORY = 6
const HISTORIES_RECONCILE_ALONE = 2
/** A missing guard is noticed within so many histories, or it is not noticed at all. */
const HISTORIES_TO_NOTICE = 80
const HISTORIES_WITH_ONE_GUARD = 2
/** As `noticedIn` of a guard. */
const ALL_GONE_NOTICED_IN = 52

/** A test that is given up goes on beside the next one, and takes its clock. A busy machine needs several times as long as an idle one. */
const simulation = useOpened(openSimulation)

async function firstFailure(
  seeds: Iterable<number>,
  options: Omit<HistoryOptions, 'seed'>,
): Promise<Outcome | undefined> {
  for (const seed of seeds) {
    const outcome = await simulation.run({ seed, ...options })
    if (outcome.broken.length > 0) {
      return outcome
    }
  }
  return
}

function seeds(count: number, first = 1): number[] {
  return Array.from({ length: count }, (_, index) => first + index)
}

describe('random histories of jobs', () => {
  it('keep every rule after every write, whatever fails, and end every job', async () => {
    const answers = new Set<string>()
    const faults = new Set<string>()
    const sums = { jobs: 0, succeeded: 0, callbacks: 0 }
    for (const seed of seeds(HISTORIES, FIRST_HISTORY)) {
      const outcome = await simulation.run({ seed })
      expect(outcome.broken.length === 0 ? '' : describeFailure(outcome)).toBe('')
      sums.jobs += outcome.jobs
      sums.succeeded += outcome.succeeded
      sums.callbacks += outcome.callbacks
      for (const answer of outcome.answers.keys()) {
        answers.add(answer)
      }
      for (const fault of outcome.faults.keys()) {
        faults.add(fault)
      }
    }
    // The histories are worth something: jobs came to either end and were told of, money ran out, everything went wrong.
    expect(sums.jobs).toBeGreaterThan(2 * HISTORIES)
    expect(sums.succeeded).toBeGreaterThan(HISTORIES / 2)
    expect(sums.jobs - sums.succeeded).toBeGreaterThan(HISTORIES / 2)
    expect(sums.callbacks).toBeGreaterThan(HISTORIES / 2)
    expect([...faults].toSorted()).toEqual([...FAULTS].toSorted())
    expect([...answers]).toEqual(expect.arrayContaining(['201', '401', '402', '409', '429', 'no answer']))
  })

  it.each([...REGRESSIONS])('keep every rule in history %s, where %s', async (seed) => {
    const outcome = await simulation.run({ seed })
    expect(outcome.broken.length === 0 ? '' : describeFailure(outcome)).toBe('')
  })

  it('end by Reconcile alone, with the event rule, Catch and Notify switched off', async () => {
    for (const seed of seeds(HISTORIES_RECONCILE_ALONE)) {
      const outcome = await simulation.run({ seed, reconcileAlone: true })
      expect(outcome.broken.length === 0 ? '' : describeFailure(outcome, ['--reconcile-alone'])).toBe('')
    }
  })

  it('are the same again for the same seed', async () => {
    const [first, second] = [await simulation.run({ seed: 7 }), await simulation.run({ seed: 7 })]
    expect(second).toEqual(first)
  })
})

describe('the simulation notices', () => {
  const { reservationState, resolutionKey, jobStatus, ...others } = GUARDS
  const guards: Guard[] = [...Object.values(others), reservationState, resolutionKey, jobStatus]

  it.each(guards)('a missing $name', async (guard) => {
    expect(await firstFailure(seeds(HISTORIES_TO_NOTICE, guard.noticedIn), { missing: [guard] })).toBeDefined()
  })

  it('that neither the mark of a key nor the state of its tenant keeps a suspension', async () => {
    const [{ noticedIn }] = SUSPENSION_GUARDS
    const options = { missing: SUSPENSION_GUARDS, probesGuards: false }
    expect(await firstFailure(seeds(HISTORIES_TO_NOTICE, noticedIn), options)).toBeDefined()
  })

  const resolutionGuards = [reservationState, resolutionKey, jobStatus]

  it('without trying them one by one that all three guards of a resolution are gone', async () => {
    const options = { missing: resolutionGuards, probesGuards: false }
    expect(await firstFailure(seeds(HISTORIES_TO_NOTICE, ALL_GONE_NOTICED_IN), options)).toBeDefined()
  })

  it.each(resolutionGuards)('nothing while $name alone stands behind a resolution', async (guard) => {
    const missing = resolutionGuards.filter((each) => each !== guard)
    expect(await firstFailure(seeds(HISTORIES_WITH_ONE_GUARD), { missing, probesGuards: false })).toBeUndefined()
  })
})
