import { describe, expect, it } from 'vitest'
import { simulateFleet } from '../../../bench/capacity/simulate-fleet.ts'
import { P1, STANDARD } from '../../../bench/polling-scenarios.ts'

const fleet = { openJobs: 200, accounts: 1, channel: P1, law: STANDARD, windowSeconds: 300, seed: 1 }

describe('a simulated fleet', () => {
  it('is the same again for the same seed, and another for another', () => {
    expect(simulateFleet(fleet)).toEqual(simulateFleet(fleet))
    expect(simulateFleet({ ...fleet, seed: 2 })).not.toEqual(simulateFleet(fleet))
  })

  it('keeps its size: as many jobs begin and end a second as its size is worth their length', () => {
    const { jobs, lagMean } = simulateFleet({ ...fleet, openJobs: 2000 })
    const meanGeneration = 90 * Math.exp(0.5 * (Math.log(240 / 90) / 1.645) ** 2)
    const openSeconds = 1 + meanGeneration + lagMean + 2
    expect(2000 / jobs / openSeconds).toBeCloseTo(1, 1)
  })

  it('never polls an account faster than it takes, and finds videos late instead', () => {
    const channel = { ...P1, poll: { requests_per_second: 2 } }
    const crowded = simulateFleet({ ...fleet, channel })
    expect(crowded.polls).toBeLessThanOrEqual(2.01)
    expect(crowded.lagMean).toBeGreaterThan(2 * simulateFleet(fleet).lagMean)
    expect(simulateFleet({ ...fleet, channel, accounts: 10 }).lagMean).toBeCloseTo(simulateFleet(fleet).lagMean, 0)
  })
})
