import { describe, expect, it } from 'vitest'
import { checkRow, checkTimes } from '#lambdas/admin/ledger/verify-rows.ts'

const row = (kind: 'reserve' | 'settle' | 'release' | 'grant' | 'adjust', amount: bigint, actual: bigint | null) => ({
  ...{ key: 'job#1', kind, amount, actual, job: 'job', at: 0, estimated: false },
})

describe('verify-rows: checkRow', () => {
  it.each([
    row('reserve', 5n, null),
    row('settle', 5n, 0n),
    row('release', 5n, null),
    row('grant', 0n, null),
    row('adjust', -5n, null),
  ])('finds nothing in a $kind row that bills what it may', (good) => {
    expect(checkRow('job', good as never)).toEqual([])
  })

  it.each([
    [row('settle', 5n, null), 'job has a settle row without an actual amount'],
    [row('release', 5n, 5n), 'job has a release row with an actual amount'],
    [row('reserve', -1n, null), 'job has a negative amount'],
    [row('grant', -1n, null), 'job has a negative amount'],
    [row('adjust', 1n, 1n), 'job has a adjust row with an actual amount'],
    [row('settle', 5n, -1n), 'job has a negative amount'],
  ])('finds %#: %s', (bad, sentence) => {
    expect(checkRow('job', bad as never)).toEqual([sentence])
  })
})

describe('verify-rows: checkTimes', () => {
  const TEN_MINUTES = 600_000

  it('allows for the clocks of two functions, each five minutes wrong', () => {
    expect(checkTimes('job', TEN_MINUTES, 0)).toEqual([])
    expect(checkTimes('job', TEN_MINUTES + 1, 0)).toEqual(['job was resolved before it was reserved'])
  })
})
