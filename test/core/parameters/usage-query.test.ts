import { describe, expect, it } from 'vitest'
import { InvalidRequestError } from '#core/errors.ts'
import { writeUsageCursor } from '#core/parameters/usage-cursor.ts'
import { parseUsageQuery } from '#core/parameters/usage-query.ts'

const TODAY = '2026-11-22'
const read = (query: Record<string, string>) => parseUsageQuery(query, TODAY)

/** The parameter that a query is refused for; undefined if it is read. */
function refusedFor(query: Record<string, string>): string | undefined {
  try {
    read(query)
    return undefined
  } catch (error) {
    if (error instanceof InvalidRequestError) {
      const [issue] = error.issues
      expect(issue?.message).toContain(`\`${issue?.path}\``)
      return issue?.path
    }
    throw error
  }
}

describe('parseUsageQuery', () => {
  it('reads the last 30 days by day without parameters', () => {
    const expected = { from: '2026-10-24', to: TODAY, groupBy: ['day'], limit: 1_000, after: undefined }
    expect(read({})).toEqual(expected)
  })

  it('begins 30 days at a given `to`, and ends today after a given `from`', () => {
    expect(read({ to: '2026-03-01' })).toMatchObject({ from: '2026-01-31', to: '2026-03-01' })
    expect(read({ from: '2026-11-20' })).toMatchObject({ from: '2026-11-20', to: TODAY })
  })

  it('reads one day, and the longest range of 92 days', () => {
    expect(refusedFor({ from: TODAY, to: TODAY })).toBeUndefined()
    expect(refusedFor({ from: '2026-08-23', to: TODAY })).toBeUndefined()
  })

  it.each([
    ['from', { from: '2026-08-22', to: TODAY }],
    ['from', { from: '2026-08-22' }],
    ['from', { from: '2026-11-23' }],
    ['from', { from: '2026-11-02', to: '2026-11-01' }],
    ['from', { from: '2026-11-31' }],
    ['from', { from: '' }],
    ['to', { to: '1795263797' }],
    ['to', { from: '2026-11-01', to: 'today' }],
    ['group_by', { group_by: 'tenant' }],
    ['group_by', { group_by: 'day,day' }],
    ['group_by', { group_by: '' }],
    ['limit', { limit: '0' }],
    ['limit', { limit: '1001' }],
    ['limit', { limit: '-1' }],
    ['limit', { limit: '1.5' }],
    ['limit', { limit: '' }],
    ['after', { after: 'nonsense' }],
    ['after', { after: '' }],
  ])('names `%s` when it refuses %j', (name, query) => {
    expect(refusedFor(query)).toBe(name)
  })

  describe('with a cursor', () => {
    const after = writeUsageCursor({ from: '2026-11-01', to: '2026-11-20', groupBy: ['key'], last: ['key1'] })

    it('continues its query, whose parameters may be left out', () => {
      const expected = { from: '2026-11-01', to: '2026-11-20', groupBy: ['key'], limit: 5, after: ['key1'] }
      expect(read({ after, limit: '5' })).toEqual(expected)
      expect(read({ after, limit: '5', from: '2026-11-01', to: '2026-11-20', group_by: 'key' })).toEqual(expected)
    })

    it('continues a query without days on the next day', () => {
      const first = parseUsageQuery({}, '2026-11-21')
      const next = writeUsageCursor({ ...first, last: ['2026-11-01'] })
      expect(read({ after: next })).toMatchObject({ from: first.from, to: first.to })
    })

    it.each([{ from: '2026-11-02' }, { to: '2026-11-21' }, { group_by: 'key,day' }, { group_by: 'day' }])(
      'refuses another query: %j',
      (other) => {
        expect(refusedFor({ after, ...other })).toBe('after')
      },
    )

    it('refuses a range that no first page has', () => {
      const long = writeUsageCursor({ from: '2020-01-01', to: TODAY, groupBy: ['day'], last: ['2020-01-01'] })
      expect(refusedFor({ after: long })).toBe('from')
    })
  })
})
