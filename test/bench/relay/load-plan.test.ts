import { describe, expect, it } from 'vitest'
import { Schedule } from '../../../bench/relay/load-plan.ts'

describe('the schedule of an open loop', () => {
  it('gives every due time once, evenly, from the start on', () => {
    const schedule = new Schedule(500, 1000)
    expect([schedule.dueBy(999), schedule.dueBy(1003), schedule.dueBy(1003), schedule.dueBy(1006)]).toEqual([
      [],
      [1000, 1002],
      [],
      [1004, 1006],
    ])
  })

  it('leaves out nothing that fell due while nobody asked', () => {
    const schedule = new Schedule(500, 0)
    schedule.dueBy(10)
    expect(schedule.dueBy(1010)).toHaveLength(500)
  })

  it('does not drift with rounding', () => {
    const due = new Schedule(300, 0).dueBy(1_000_000)
    expect(due.at(-1)).toBeCloseTo(1_000_000, 6)
    expect(due).toHaveLength(300_001)
  })
})
