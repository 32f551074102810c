import { describe, expect, it } from '@jest/globals'
import { useOpened } from '../engines/use-opened.ts'
import { BUDGET_GUARDS, type Guard } from './guards.ts'
import { openSimulation } from './open-simulation.ts'

/** A missing guard is noticed within so many histories, or it is not noticed at all. */
const HISTORIES_TO_NOTICE = 40

/** A test that is given up goes on beside the next one, and takes its clock. A busy machine needs several times as long as an idle one. */
const simulation = useOpened(openSimulation)

describe('the simulation of budgets, corrections and alerts notices', () => {
  it.each(Object.values(BUDGET_GUARDS))('a missing $name', async (guard: Guard) => {
    const options = { relaysRequests: true, switching: 'seen', probesGuards: false, missing: [guard] } as const
    const broken: string[] = []
    for (let seed = guard.noticedIn; broken.length === 0 && seed < guard.noticedIn + HISTORIES_TO_NOTICE; seed += 1) {
      broken.push(...(await simulation.run({ seed, ...options })).broken)
    }
    expect(broken).not.toEqual([])
  })
})
