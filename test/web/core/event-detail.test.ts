import { describe, expect, it } from 'vitest'
import { eventDetail } from '#web/core/event-detail.ts'

describe('eventDetail', () => {
  it('says what an event has beside its type and its time', () => {
    expect(eventDetail({ id: '3', type: 'progress', at: 1, percent: 40, eta_seconds: 12 })).toBe(
      'percent 40, eta seconds 12',
    )
    expect(eventDetail({ type: 'queued', at: 1, error: null })).toBe('')
  })
})
