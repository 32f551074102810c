import { describe, expect, it } from 'vitest'
import { changedFields } from '#web/core/change-summary.ts'

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

  it('cuts long values', () => {
    expect(changedFields(null, { reason: 'x'.repeat(500) })[0]?.after).toHaveLength(61)
  })
})
