import { describe, expect, it } from 'vitest'
import { buildSummary } from '#adapters/store/console/build-summary.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { leftOutOf, type Summary } from '#core/admin/summary.ts'

const NOW = Date.parse('2026-11-22T12:00:00Z')
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]

/** A table of tenants that all have spent the same, and the ranges of counters that were asked for. */
class SpendingTable implements Pick<Table, 'readItem' | 'readItems' | 'queryPage'> {
  spent = 1
  readonly asked = new Map<string, string[]>()
  isTooLarge = false
  readonly #ids: readonly string[]

  constructor(count: number) {
    this.#ids = Array.from({ length: count }, (_, index) => `t${String(index).padStart(4, '0')}`)
  }

  readItem: Table['readItem'] = async () => undefined

  readItems: Table['readItems'] = async (keys) =>
    keys.map((key) => ({ ...key, available: 1, held: 0, spent: this.spent, granted: 1, state: 'active', openJobs: 0 }))

  queryPage: Table['queryPage'] = async ({ ExpressionAttributeValues: values = {} }) => {
    const partition = String(values[':pk'])
    if (partition === 'TENANTS') {
      return {
        items: this.#ids.map((id) => ({ PK: partition, SK: id, name: id, webhookSecret: 's', createdAt: 1 })),
        nextKey: undefined,
      }
    }
    if (!partition.startsWith('U#')) {
      return { items: [], nextKey: undefined }
    }
    const id = partition.slice(2)
    this.asked.set(id, [...(this.asked.get(id) ?? []), String(values[':from']).slice(0, 10)])
    return this.isTooLarge
      ? { items: [], nextKey: { PK: 'more' } }
      : { items: [{ SK: '2026-11-22#k#create-image#m', requests: 1, cost: this.spent }], nextKey: undefined }
  }
}

const build = (table: SpendingTable, nowMilliseconds: number, previous?: Summary) =>
  buildSummary(table, { previous, nowMilliseconds })

describe('buildSummary, turn by turn', () => {
  it('reads 200 tenants, and next those that have waited longest, though all spend all the time', async () => {
    const table = new SpendingTable(450)
    let summary: Summary | undefined
    for (const minute of [0, 1, 2]) {
      table.spent += 1
      summary = await build(table, NOW + minute * MINUTE, summary)
      expect(table.asked.size).toBe(Math.min(450, 200 * (minute + 1)))
    }
    expect(summary && leftOutOf(summary)).toBeNull()
  })

  it('reads a tenant that was passed over for days from the day of its last reading on', async () => {
    const table = new SpendingTable(1)
    const first = await build(table, NOW)
    table.spent = 2
    const without = await buildSummary(table, { previous: first, nowMilliseconds: NOW + 3 * DAY, hasTime: () => false })
    await build(table, NOW + 3 * DAY + MINUTE, without)
    expect(table.asked.get('t0000')).toEqual(['2026-10-23', '2026-11-21'])
  })

  it('asks for too many counters with eight queries an hour, and not a minute', async () => {
    const table = new SpendingTable(1)
    table.isTooLarge = true
    let summary = await build(table, NOW)
    for (const at of [MINUTE, HOUR - 1, HOUR]) {
      summary = await build(table, NOW + at, summary)
    }
    expect(table.asked.get('t0000')).toHaveLength(16)
    expect(leftOutOf(summary)).toMatch(/^usage of t0000, not/)
  })
})
