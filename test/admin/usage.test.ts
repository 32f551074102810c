import { describe, expect, it } from '@jest/globals'
import { countedUsage } from '#core/pricing/usage.ts'
import { streamSettledRows } from '#lambdas/admin/settled-rows.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { putSettledRow } from './settle-rows.ts'

const engine = useTestTable()

async function read() {
  const found = []
  for await (const row of streamSettledRows(engine.table, 'acme')) {
    found.push(row)
  }
  return found
}

describe('streamSettledRows', () => {
  it('yields settlements with the mark, and leaves out all others and malformed rows', async () => {
    await putSettledRow(engine.table, 'unmarked')
    const about = { keyId: 'key1', operation: 'create-image', usage: { images: 2 }, counted: true }
    await putSettledRow(engine.table, 'new', about)
    await putSettledRow(engine.table, 'malformed', { amount: 'much' })
    const shared = { tenantId: 'acme', at: Date.parse('2026-11-22T12:00:00Z'), model: 'm', actual: 3n }
    const known = { keyId: 'key1', operation: 'create-image', usage: countedUsage({ images: 2 }) }
    expect(await read()).toEqual([{ key: { PK: 'L#acme', SK: 'new#2' }, settlement: { ...shared, ...known } }])
  })
})
