import { describe, expect, it } from '@jest/globals'
import { changedFields } from '#web/core/change-summary.ts'
import { channelState } from '#web/core/channel-state.ts'
import { eventDetail } from '#web/core/event-detail.ts'
import { counted } from '#web/core/plural.ts'

describe('changedFields', () => {
  it('names what differs alone', () => {
    expect(changedFields({ weight: 1, name: 'a' }, { weight: 2, name: 'a', budget: { amount: '5' } })).toEqual([
      { field: 'weight', before: '1', after: '2' },
      { field: 'budget', before: '', after: '{"amount":"5"}' },
    ])
  })

  it('reads a thing that was made or removed', () => {
    expect(changedFields(null, { name: 'a' })).toEqual([{ field: 'name', before: '', after: 'a' }])
    expect(changedFields({ name: 'a' }, null)).toEqual([{ field: 'name', before: 'a', after: '' }])
    expect(changedFields(null, null)).toEqual([])
  })

  it('reads a field without a value as not set', () => {
    const change = { field: 'rate', before: '300', after: 'not set' }
    expect(changedFields({ rate: 300 }, { rate: null })).toEqual([change])
  })

  it('cuts long values', () => {
    expect(changedFields(null, { reason: 'x'.repeat(500) })[0]?.after).toHaveLength(61)
  })
})

describe('eventDetail', () => {
  it('says what an event has beside its type and its time', () => {
    expect(eventDetail({ id: '3', type: 'progress', at: 1, percent: 40, eta_seconds: 12 })).toBe(
      'percent 40, eta seconds 12',
    )
    expect(eventDetail({ type: 'queued', at: 1, error: null })).toBe('')
  })
})

describe('channelState', () => {
  it.each([
    [true, 'open', null, 'disabled'],
    [false, 'open', null, 'breaker open'],
    [false, 'half_open', null, 'recovering'],
    [false, 'closed', null, 'enabled'],
    [false, null, null, 'enabled'],
    [false, null, 0, 'enabled'],
    [false, null, 3, 'breakers opened'],
    [true, null, 3, 'disabled'],
  ])('disabled %p with a breaker %p and %p openings is "%s"', (disabled, breaker, breaker_openings, state) => {
    expect(channelState({ disabled, breaker, breaker_openings })).toBe(state)
  })
})

describe('counted', () => {
  it.each([
    [0, '0 rows'],
    [1, '1 row'],
    [2, '2 rows'],
    [20_000, '20,000 rows'],
  ])('%d is "%s"', (count, words) => {
    expect(counted(count, 'row')).toBe(words)
  })

  it('takes a plural that is no "s"', () => {
    expect([counted(1, 'reply', 'replies'), counted(2, 'reply', 'replies')]).toEqual(['1 reply', '2 replies'])
  })
})
