import { beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { type PeriodKind, periodAt } from '#core/budgets.ts'
import { microcredits, parseCredits } from '#core/money.ts'
import { type CountedSettlement, countedUsage, counterOfSettlement } from '#core/pricing/usage.ts'
import type { Item, Table } from '#store/table/table.ts'
import {
  counterNameOf,
  countUsage,
  readLatestUsageCounters,
  readSnapshot,
  readUsageCounter,
  readUsageCounters,
  spentInPeriod,
  streamUsageCounters,
} from '#store/usage.ts'
import { useTestTable } from '../engines/use-test-table.ts'

describe('counters of usage:', () => {
  const engine = useTestTable()
  let table: Table
  beforeEach(async () => {
    table = await engine.fresh()
  })

  function settled(changes: Partial<CountedSettlement> = {}): CountedSettlement {
    return {
      tenantId: 'acme',
      at: Date.parse('2026-11-22T12:00:00Z'),
      keyId: 'key1',
      operation: 'create-chat-completion',
      model: 'chat-default',
      usage: countedUsage({ inputTokens: 5, outputTokens: 7 }),
      actual: parseCredits('0.000021'),
      ...changes,
    }
  }

  const days = (from: string, to: string) => ({ from, to })
  const DAY = days('2026-11-22', '2026-11-22')

  describe('countUsage', () => {
    it('adds all settlements of one counter in one write, and writes only sums that move', async () => {
      const writes = countUsage([settled(), settled({ usage: countedUsage({ inputTokens: 1 }) })])
      expect(writes).toEqual({
        [counterNameOf(settled())]: {
          Update: {
            Key: { PK: 'U#acme', SK: counterOfSettlement(settled()) },
            UpdateExpression:
              'ADD requests :requests, inputTokens :inputTokens, outputTokens :outputTokens, cost :cost',
            ExpressionAttributeValues: { ':inputTokens': 6, ':outputTokens': 7, ':requests': 2, ':cost': 42n },
          },
        },
      })
    })

    it('has one write for each day, key, operation and model', () => {
      const settlements = [
        settled(),
        settled({ at: Date.parse('2026-11-23T00:00:00Z') }),
        settled({ keyId: 'key2' }),
        settled({ operation: 'create-completion' }),
        settled({ model: 'chat-large' }),
        settled({ tenantId: 'other' }),
      ]
      expect(Object.keys(countUsage([...settlements, ...settlements]))).toEqual(settlements.map(counterNameOf))
    })

    it('counts no settlement of zero', () => {
      expect(countUsage([settled({ actual: parseCredits('0') })])).toEqual({})
    })

    it('makes counters that later transactions add to, exactly beyond the range of a double', async () => {
      const large = settled({ actual: parseCredits('1000000000') })
      for (let index = 0; index < 10; index += 1) {
        await table.transact(countUsage([large]))
      }
      await table.transact(countUsage([settled({ usage: countedUsage({ images: 2, videoMilliseconds: 5_040 }) })]))
      expect(await readUsageCounters(table, 'acme', DAY)).toEqual([
        {
          day: '2026-11-22',
          keyId: 'key1',
          operation: 'create-chat-completion',
          model: 'chat-default',
          requests: 11,
          inputTokens: 50,
          cachedInputTokens: 0,
          cacheWriteTokens: 0,
          outputTokens: 70,
          videoMilliseconds: 5_040,
          images: 2,
          cost: 10n * parseCredits('1000000000') + 21n,
        },
      ])
    })
  })

  describe('readUsageCounters', () => {
    it('reads both ends of a range, and neither the day before nor the day after', async () => {
      const dates = ['2026-10-31', '2026-11-01', '2026-11-02', '2026-11-03', '2026-11-04']
      await table.transact(countUsage(dates.map((day) => settled({ at: Date.parse(`${day}T23:59:59.999Z`) }))))
      const found = await readUsageCounters(table, 'acme', days('2026-11-01', '2026-11-03'))
      expect(found?.map(({ day }) => day)).toEqual(['2026-11-01', '2026-11-02', '2026-11-03'])
    })

    it('sees no counter of another tenant', async () => {
      await table.transact(countUsage([settled({ tenantId: 'acme2' }), settled({ tenantId: 'acm' })]))
      expect(await readUsageCounters(table, 'acme', DAY)).toEqual([])
    })

    it('gives up a range after eight pages, and reads one that ends with the eighth', async () => {
      const tableOf = (pages: number): Pick<Table, 'queryPage'> => ({
        queryPage: async (_query, startKey) => {
          const page = Number(startKey?.SK ?? 0) + 1
          return { items: [item(page)], nextKey: page < pages ? { SK: String(page) } : undefined }
        },
      })
      const item = (page: number): Item => ({ SK: `2026-11-22#key${page}#create-image#m`, requests: 1, cost: 1 })
      expect(await readUsageCounters(tableOf(8), 'acme', DAY)).toHaveLength(8)
      expect(await readUsageCounters(tableOf(9), 'acme', DAY)).toBeUndefined()
    })
  })

  describe('streamUsageCounters', () => {
    it('yields every counter of a tenant in the order of days', async () => {
      const dates = ['2026-11-03', '2025-01-01', '2026-11-01']
      await table.transact(countUsage(dates.map((day) => settled({ at: Date.parse(day), model: 'a#b' }))))
      const found = []
      for await (const { day, model } of streamUsageCounters(table, 'acme')) {
        found.push([day, model])
      }
      expect(found).toEqual(dates.toSorted().map((day) => [day, 'a#b']))
    })
  })

  describe('readUsageCounter', () => {
    it('refuses an item with another key', () => {
      expect(() => readUsageCounter({ SK: '2026-11-22#key1', requests: 1, cost: 1 })).toThrow()
    })
  })

  describe('readLatestUsageCounters', () => {
    const range = days('2026-11-01', '2026-11-22')
    const at = (day: string, keyId: string) => settled({ at: Date.parse(`${day}T12:00:00Z`), keyId })

    it('reads whole days by one request, the latest first', async () => {
      const settlements = [
        at('2026-11-20', 'k1'),
        at('2026-11-21', 'k1'),
        at('2026-11-21', 'k2'),
        at('2026-11-22', 'k1'),
      ]
      await table.transact(countUsage(settlements))
      const latest = (limit?: number) =>
        readLatestUsageCounters(
          { queryPage: (query) => table.queryPage(limit === undefined ? query : { ...query, Limit: limit }) },
          'acme',
          range,
        )
      const shown = async (limit?: number) => {
        const { counters, completeFrom } = await latest(limit)
        return [completeFrom, ...counters.map(({ day }) => day)]
      }
      expect(await shown()).toEqual(['2026-11-01', '2026-11-22', '2026-11-21', '2026-11-21', '2026-11-20'])
      expect(await shown(2)).toEqual(['2026-11-22', '2026-11-22'])
      expect(await shown(1)).toEqual(['2026-11-23'])
    })
  })
})

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
