import { describe, expect, it } from '@jest/globals'
import { useOpened } from '../engines/use-opened.ts'
import { describeFailure, openSimulation } from './open-simulation.ts'

/** How many histories run here; `npm run test:long` runs thousands. */
const HISTORIES = 4
/** Instances that never read the switches again are noticed within so many. */
const HISTORIES_TO_NOTICE = 40
/** The first history that noticed them when this was written: where the search begins. */
const NOTICED_IN = 23

/** A test that is given up goes on beside the next one, and takes its clock. A busy machine needs several times as long as an idle one. */
const simulation = useOpened(openSimulation)

describe('random histories of jobs while operators switch channels', () => {
  it('keep every rule after every write: no job is claimed for a channel that was disabled 15 seconds before', async () => {
    const sums = { jobs: 0, succeeded: 0 }
    for (let seed = 1; seed <= HISTORIES; seed += 1) {
      const outcome = await simulation.run({ seed, switching: 'seen' })
      expect(outcome.broken.length === 0 ? '' : describeFailure(outcome, ['--switches'])).toBe('')
      sums.jobs += outcome.jobs
      sums.succeeded += outcome.succeeded
    }
    // Jobs come to either end, although channels come and go.
    expect(sums.succeeded).toBeGreaterThan(HISTORIES / 2)
    expect(sums.jobs - sums.succeeded).toBeGreaterThan(HISTORIES / 2)
  })

  it('break that rule where instances never read the switches again', async () => {
    const broken = new Set<string>()
    for (let seed = NOTICED_IN; seed < NOTICED_IN + HISTORIES_TO_NOTICE && broken.size === 0; seed += 1) {
      const outcome = await simulation.run({ seed, switching: 'forgotten', probesGuards: false })
      for (const sentence of outcome.broken) {
        broken.add(sentence)
      }
    }
    expect([...broken]).toEqual([expect.stringMatching(/was given a job at \d+, and is disabled since [\d.]+ ms$/)])
  })
})
