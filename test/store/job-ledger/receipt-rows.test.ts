import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect, it } from '@jest/globals'
import { readReceiptRows } from '#store/job-ledger/receipt-rows.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { useTestTable } from '../../engines/use-test-table.ts'

const engine = useTestTable()

async function put(Item: Record<string, unknown>): Promise<void> {
  await engine.table.client.send(new PutCommand({ TableName: engine.table.name, Item }))
}

const read = (jobId: string) => readReceiptRows(engine.table, { tenantId: 'acme', jobId })

describe('readReceiptRows', () => {
  it('reads lines', async () => {
    const line = { what: 'video', quantity: '5', unit: 'second', unitPrice: '0.14', amount: 700_000 }
    const about = { model: 'm', billing: 'per_second', lines: [line] }
    await put({ ...tableKeys.ledgerReserve('acme', 'new'), kind: 'reserve', amount: 700_000, at: 1, ...about })
    expect(await read('new')).toMatchObject({
      reserve: { model: 'm', billing: 'per_second', lines: [{ quantity: '5', amount: 700_000n }] },
      resolution: undefined,
    })
  })

  it('finds nothing for a relayed request, which has one row, and for an unknown job', async () => {
    const row = { kind: 'settle', amount: 7, actual: 5, at: 2, reservedAt: 1 }
    await put({ ...tableKeys.ledgerResolution('acme', 'request'), ...row })
    expect(await read('request')).toBeUndefined()
    expect(await read('nothing')).toBeUndefined()
  })
})
