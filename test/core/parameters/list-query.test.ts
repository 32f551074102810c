import { describe, expect, it } from '@jest/globals'
import { parseListQuery } from '#core/parameters/list-query.ts'
import { issuesOf } from '../shipped-catalogue.ts'

const ID = '0198c1b2-7d3e-7f00-8a11-2233445566ff'

describe('parseListQuery', () => {
  it('lists the first twenty when nothing is asked', () => {
    expect(parseListQuery({})).toStrictEqual({ limit: 20, offset: 0, after: undefined })
  })

  it.each([
    ['1', 1],
    ['100', 100],
    ['101', 100],
    ['1000000000', 100],
    ['9'.repeat(400), 100],
    ['007', 7],
    ['0', 20],
    ['-1', 20],
    ['abc', 20],
    ['', 20],
    ['20.5', 20],
    ['5.0', 20],
    ['1e2', 20],
    ['+5', 20],
    [' 5', 20],
    ['5\n', 20],
    ['٥', 20],
    ['NaN', 20],
    ['Infinity', 20],
  ])('reads the limit %j as %i', (limit, expected) => {
    expect(parseListQuery({ limit }).limit).toBe(expected)
  })

  it.each([
    ['0', 0],
    ['-0', 0],
    ['-1', 0],
    ['x', 0],
    ['1.5', 0],
    ['9999', 9999],
    ['10000', 10_000],
  ])('reads the offset %j as %i', (offset, expected) => {
    expect(parseListQuery({ offset }).offset).toBe(expected)
  })

  it.each(['10001', '1000000000000', '9'.repeat(400)])('refuses the offset %s', (offset) => {
    const message = '`offset` must be at most 10000: use after=<last_id> to go further'
    expect(issuesOf(() => parseListQuery({ offset }))).toStrictEqual([{ path: 'offset', message }])
  })

  it.each([ID, ID.toUpperCase()])('takes the cursor %s in any case', (after) => {
    expect(parseListQuery({ after }).after).toBe(ID)
  })

  it.each(['', 'x', `${ID}0`, ` ${ID}`, `${ID}\n`, ID.replaceAll('-', '')])('refuses the cursor %j', (after) => {
    const message = '`after` must be the id of a video job'
    expect(issuesOf(() => parseListQuery({ after }))).toStrictEqual([{ path: 'after', message }])
  })

  it('ignores what else the query holds', () => {
    expect(parseListQuery({ order: 'asc', limit: '3' })).toStrictEqual({ limit: 3, offset: 0, after: undefined })
  })
})
