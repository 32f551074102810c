import { expect, it } from '@jest/globals'
import { RecentMinutes } from '#local/recent-minutes.ts'

const NOW = 1_795_000_020_000

it('RecentMinutes: tells every one of the last thirty minutes, and forgets older ones', () => {
  const minutes = new RecentMinutes()
  minutes.add({ milliseconds: 5 }, NOW - 31 * 60_000)
  minutes.add({ milliseconds: 5, errorClass: 'timeout' }, NOW - 60_000)
  minutes.add({ errorClass: 'timeout' }, NOW)
  const figures = minutes.figures(NOW)
  expect(figures).toHaveLength(30)
  expect(figures.slice(-2).map(({ calls, errors }) => [calls, errors])).toEqual([
    [1, 1],
    [0, 1],
  ])
  expect(figures.reduce((sum, { calls }) => sum + calls, 0)).toBe(1)
  expect(figures.at(-1)?.at).toBe(NOW - (NOW % 60_000))
})
