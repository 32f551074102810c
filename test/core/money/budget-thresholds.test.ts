import { describe, expect, it } from 'vitest'
import { ALERT_THRESHOLDS, crossedThresholds } from '#core/money/budget-thresholds.ts'
import { parseCredits } from '#core/money/money.ts'

const crossed = (spent: string, amount = '1', thresholds = ALERT_THRESHOLDS) =>
  crossedThresholds({ spent: parseCredits(spent), amount: parseCredits(amount) }, thresholds)

describe('budget-thresholds', () => {
  it.each([
    ['0', []],
    ['0.499999', []],
    ['0.5', [50]],
    ['0.799999', [50]],
    ['0.8', [50, 80]],
    ['0.999999', [50, 80]],
    ['1', [50, 80, 100]],
    ['3', [50, 80, 100]],
  ])('%s of 1 crosses %j, exact to the microcredit', (spent, expected) => {
    expect(crossed(spent)).toEqual(expected)
  })

  it('sorts thresholds, whatever their order', () => {
    expect(crossed('1', '1', [100, 120, 10])).toEqual([10, 100])
  })

  it('crosses nothing of a budget of zero before something is spent', () => {
    expect(crossed('0', '0')).toEqual([])
    expect(crossed('0.000001', '0')).toEqual([50, 80, 100])
  })
})
