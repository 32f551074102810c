import { describe, expect, it } from 'vitest'
import { TaskSchedule } from '../../../lib/simulators/shared/task-schedule.ts'

const task = (readyAtMs: number, runMs: number, limitAtMs = Number.POSITIVE_INFINITY) => ({
  readyAtMs,
  runMs,
  limitAtMs,
})

describe('TaskSchedule', () => {
  it('starts every task when it is ready while there are places', () => {
    const schedule = new TaskSchedule(2)
    expect([schedule.place(task(5, 10)), schedule.place(task(6, 10))].map((times) => times.startsAtMs)).toEqual([5, 6])
  })

  it('lets the next task wait for the first place that becomes free', () => {
    const schedule = new TaskSchedule(2)
    schedule.place(task(0, 30))
    schedule.place(task(0, 10))
    expect(schedule.place(task(0, 5))).toEqual({ startsAtMs: 10, endsAtMs: 15 })
  })

  it('gives the place of an endless task away at its time limit', () => {
    const schedule = new TaskSchedule(1)
    schedule.place(task(0, Number.POSITIVE_INFINITY, 100))
    expect(schedule.place(task(0, 5)).startsAtMs).toBe(100)
  })

  it('takes no place for a task that runs out of time while it waits', () => {
    const schedule = new TaskSchedule(1)
    schedule.place(task(0, 100))
    expect(schedule.place(task(0, 5, 50)).startsAtMs).toBe(Number.POSITIVE_INFINITY)
    expect(schedule.place(task(0, 5)).startsAtMs).toBe(100)
  })

  it('counts tasks that were placed before', () => {
    const schedule = new TaskSchedule(1)
    schedule.occupy(40)
    expect(schedule.place(task(0, 5)).startsAtMs).toBe(40)
  })

  it('has no end of places when asked to', () => {
    const schedule = new TaskSchedule(Number.POSITIVE_INFINITY)
    const starts = Array.from({ length: 1000 }, () => schedule.place(task(7, 1)).startsAtMs)
    expect(new Set(starts)).toEqual(new Set([7]))
  })
})
