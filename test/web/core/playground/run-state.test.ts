import { describe, expect, it } from 'vitest'
import { afterEvent, FIRST_RUN_STATE, hasEnded, type JobEvent } from '../../../../web/src/core/playground/run-state.ts'

const EVENTS: readonly JobEvent[] = [
  { id: 'queued', type: 'queued', at: 1 },
  { id: 'submitted', type: 'submitted', at: 2 },
  { id: 'processing', type: 'processing', at: 3 },
  { id: 'progress:37', type: 'progress', at: 4, percent: 37, eta_seconds: 20 },
  { id: 'finished', type: 'finished', at: 5 },
  { id: 'settled', type: 'settled', at: 6, cost: '0.7' },
  { id: 'progress:100', type: 'progress', at: 6, percent: 100 },
  { id: 'succeeded', type: 'succeeded', at: 6 },
]

describe('afterEvent', () => {
  it('follows a job to its end with its progress and its cost', () => {
    const state = EVENTS.reduce(afterEvent, FIRST_RUN_STATE)
    expect(state).toMatchObject({ status: 'succeeded', percent: 100, cost: '0.7' })
    expect(hasEnded(state)).toBe(true)
    expect(state.events.map(({ id }) => id)).toEqual([
      'queued',
      'submitted',
      'processing',
      'finished',
      'settled',
      'succeeded',
    ])
  })

  it('ignores events that a second connection repeats, and never lets the percent fall', () => {
    const state = EVENTS.slice(0, 4).reduce(afterEvent, FIRST_RUN_STATE)
    expect(EVENTS.slice(0, 3).reduce(afterEvent, state)).toMatchObject({ status: 'processing', percent: 37 })
    const lower = { id: 'progress:20', type: 'progress', at: 7, percent: 20 }
    expect(afterEvent(state, lower).percent).toBe(37)
  })

  it('keeps the reason of a failure', () => {
    const failed = { id: 'failed', type: 'failed', at: 9, error: 'the prompt was refused' }
    const state = afterEvent(FIRST_RUN_STATE, failed)
    expect([hasEnded(state), state.error]).toEqual([true, 'the prompt was refused'])
  })
})
