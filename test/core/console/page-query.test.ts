import { expect, test } from 'vitest'
import { readPageLimit, readQueryChoice, readQueryText, readQueryTime } from '#core/console/page-query.ts'
import { InvalidRequestError } from '#core/errors.ts'

test('page-query: what is left out has its default', () => {
  expect(readPageLimit({})).toBe(50)
  expect([readQueryTime({}, 'from'), readQueryText({}, 'id'), readQueryChoice({}, 'kind', ['a'])]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('page-query: reads a limit, a time in milliseconds, a string and a choice', () => {
  expect(readPageLimit({ limit: '200' })).toBe(200)
  expect(readQueryTime({ from: '1795263797' }, 'from')).toBe(1_795_263_797_000)
  expect(readQueryText({ id: 'x' }, 'id')).toBe('x')
  expect(readQueryChoice({ kind: 'b' }, 'kind', ['a', 'b'])).toBe('b')
})

test.each([
  ['limit', () => readPageLimit({ limit: '0' })],
  ['limit', () => readPageLimit({ limit: '201' })],
  ['limit', () => readPageLimit({ limit: '1e2' })],
  ['from', () => readQueryTime({ from: '-1' }, 'from')],
  ['from', () => readQueryTime({ from: '99999999999' }, 'from')],
  ['id', () => readQueryText({ id: '' }, 'id')],
  ['id', () => readQueryText({ id: 'x'.repeat(201) }, 'id')],
  ['kind', () => readQueryChoice({ kind: 'c' }, 'kind', ['a', 'b'])],
])('page-query: refuses a wrong %s', (_name, act) => {
  expect(act).toThrow(InvalidRequestError)
})
