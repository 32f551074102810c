import { describe, expect, test } from '@jest/globals'
import { readPageLimit, readQueryChoice, readQueryText, readQueryTime } from '#core/admin/page-query.ts'
import { InvalidRequestError } from '#core/errors.ts'

describe('readers of a page query', () => {
  test('give what is left out its default', () => {
    expect(readPageLimit({})).toBe(50)
    expect([readQueryTime({}, 'from'), readQueryText({}, 'id'), readQueryChoice({}, 'kind', ['a'])]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test('read a limit, a time in milliseconds, a string and a choice', () => {
    expect(readPageLimit({ limit: '200' })).toBe(200)
    expect(readQueryTime({ from: '2026-11-21T13:00+01:00' }, 'from')).toBe(Date.UTC(2026, 10, 21, 12))
    expect(readQueryText({ id: 'x' }, 'id')).toBe('x')
    expect(readQueryChoice({ kind: 'b' }, 'kind', ['a', 'b'])).toBe('b')
  })

  test.each([
    ['limit', () => readPageLimit({ limit: '0' })],
    ['limit', () => readPageLimit({ limit: '201' })],
    ['limit', () => readPageLimit({ limit: '1e2' })],
    ['from', () => readQueryTime({ from: '1795263797' }, 'from')],
    ['from', () => readQueryTime({ from: '2026-13-01T00:00:00Z' }, 'from')],
    ['id', () => readQueryText({ id: '' }, 'id')],
    ['id', () => readQueryText({ id: 'x'.repeat(201) }, 'id')],
    ['kind', () => readQueryChoice({ kind: 'c' }, 'kind', ['a', 'b'])],
  ])('refuse a wrong %s', (_name, act) => {
    expect(act).toThrow(InvalidRequestError)
  })
})
