import { describe, expect, it } from '@jest/globals'
import { useOpened } from '../engines/use-opened.ts'
import { STORMS } from './faults.ts'
import { type Guard, RELAY_GUARDS } from './guards.ts'
import { describeFailure, openSimulation } from './open-simulation.ts'

/** Operators switch channels meanwhile. */
const RELAYED = { relaysRequests: true, switching: 'seen' } as const
/** How many histories run here at least; `npm run test:long` runs thousands. */
const HISTORIES = 5
/** So many have every storm, refusal and outcome among them. */
const HISTORIES_MAX = 20
/** A missing guard is noticed within so many histories, or it is not noticed at all. */
const HISTORIES_TO_NOTICE = 40

/** A test that is given up goes on beside the next one, and takes its clock. A busy machine needs several times as long as an idle one. */
const simulation = useOpened(openSimulation)

describe('random histories of jobs and relayed requests', () => {
  it('keep every rule after every write, whatever fails, and leave nothing held', async () => {
    const refusals = ['InvalidApiKeyError', 'InsufficientQuotaError', 'ServiceUnavailableError']
    const outcomes = ['resolved', 'already_resolved', 'changed key', 'killed', 'frozen']
    const expected = [...STORMS, ...refusals, ...outcomes]
    const names = new Set<string>()
    const isDone = (histories: number) => histories >= HISTORIES && expected.every((name) => names.has(name))
    const sums = { jobs: 0, requests: 0, settled: 0, groups: 0 }
    for (let seed = 1; seed <= HISTORIES_MAX && !isDone(seed - 1); seed += 1) {
      const outcome = await simulation.run({ seed, ...RELAYED })
      expect(outcome.broken.length === 0 ? '' : describeFailure(outcome, ['--relayed'])).toBe('')
      sums.jobs += outcome.jobs
      sums.requests += outcome.relayed.requests
      sums.settled += outcome.relayed.settled
      sums.groups += outcome.relayed.groups
      for (const name of [...outcome.storms.keys(), ...outcome.relayed.happened.keys()]) {
        names.add(name)
      }
    }
    // The histories are worth something: requests shared transactions, were billed and refused, and processes ended and stood still.
    expect(sums.jobs).toBeGreaterThan(HISTORIES / 2)
    expect(sums.requests).toBeGreaterThan(20 * HISTORIES)
    expect(sums.settled).toBeGreaterThan(5 * HISTORIES)
    expect(sums.groups).toBeGreaterThan(2 * HISTORIES)
    expect([...names]).toEqual(expect.arrayContaining(expected))
  })

  it('are the same again for the same seed', async () => {
    const options = { seed: 4, ...RELAYED }
    expect(await simulation.run(options)).toEqual(await simulation.run(options))
  })
})

describe('the simulation of relayed requests notices', () => {
  it.each(Object.values(RELAY_GUARDS))('a missing $name', async (guard: Guard) => {
    const broken: string[] = []
    for (let seed = guard.noticedIn; broken.length === 0 && seed < guard.noticedIn + HISTORIES_TO_NOTICE; seed += 1) {
      broken.push(...(await simulation.run({ seed, ...RELAYED, missing: [guard] })).broken)
    }
    expect(broken).not.toEqual([])
  })
})
