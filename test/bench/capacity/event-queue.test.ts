import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventQueue } from '../../../bench/capacity/event-queue.ts'

describe('the queue of events', () => {
  it('gives back every event once, earliest first', () => {
    void fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50 })), (times) => {
        const queue = new EventQueue<number>()
        for (const [index, at] of times.entries()) {
          queue.add(at, index)
        }
        const taken = times.map(() => queue.next())
        expect(queue.next()).toBeUndefined()
        expect(taken.map((entry) => entry?.at)).toEqual(times.toSorted((left, right) => left - right))
        expect(new Set(taken.map((entry) => entry?.event)).size).toBe(times.length)
      }),
    )
  })
})
