import { v7 as uuidv7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import { readSnapshot, spentInPeriod } from '#adapters/store/money/period-spending.ts'
import { countUsage } from '#adapters/store/money/usage-counters.ts'
import { type PeriodKind, periodAt } from '#core/budgets.ts'
import { microcredits } from '#core/money.ts'
import { countedUsage } from '#core/pricing/usage.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'

const engine = useTestTable()

const at = (month: number, day: number) => Date.UTC(2026, month - 1, day, 12)

describe('spentInPeriod', () => {
  it.each<[PeriodKind, bigint, bigint]>([
    ['day', 4n, 4n],
    ['month', 22n, 6n],
    ['total', 23n, 7n],
  ])('adds up the counters of a %s, of all keys or of some', async (kind, all, ofOne) => {
    const tenantId = uuidv7()
    const settled = { tenantId, operation: 'create-embedding', model: 'm#1', usage: countedUsage({}) }
    const writes = countUsage([
      { ...settled, keyId: 'k1', at: at(10, 31), actual: microcredits(1) },
      { ...settled, keyId: 'k1', at: at(11, 1), actual: microcredits(2) },
      { ...settled, keyId: 'k1', at: at(11, 30), actual: microcredits(4) },
      { ...settled, keyId: 'k2', at: at(11, 9), actual: microcredits(16) },
    ])
    await engine.table.transact(writes)
    const period = periodAt(kind, at(11, 30))
    expect(await spentInPeriod(engine.table, tenantId, { period })).toBe(all)
    expect(await spentInPeriod(engine.table, tenantId, { period, keyIds: new Set(['k1']) })).toBe(ofOne)
  })
})

describe('readSnapshot', () => {
  const reading = (values: readonly number[]) => {
    const left = [...values]
    return {
      read: async () => left.shift() ?? values.at(-1) ?? 0,
      count: async (read: number) => microcredits(read * 10),
      sameAt: (one: number, other: number) => one === other,
    }
  }

  it('reads again until nothing moved while the sum was read', async () => {
    expect(await readSnapshot(reading([1, 2, 3, 3]))).toEqual({ read: 3, sum: 30n, isExact: true })
  })

  it('says so if nothing ever stood still', async () => {
    const moving = Array.from({ length: 100 }, (_, index) => index)
    expect(await readSnapshot(reading(moving))).toMatchObject({ isExact: false })
  })
})
