import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect, it } from 'vitest'
import { TenantTooLargeError, verifyBounded } from '#lambdas/admin/ledger/verify-bounded.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { openTenant } from '../../engines/video-jobs.ts'

const engine = useTestTable()

/** A settlement that the balance knows nothing of. */
async function breakLedger(tenantId: string): Promise<void> {
  const Item = { ...tableKeys.ledgerGrant(tenantId, 'lost'), kind: 'grant', amount: 5, at: 1 }
  await engine.table.client.send(new PutCommand({ TableName: engine.table.name, Item }))
}

describe('verifyBounded', () => {
  it('tells the findings and the rows of one tenant', async () => {
    const { tenantId } = await openTenant(engine.table)
    expect(await verifyBounded(engine.table, tenantId)).toEqual({ broken: [], rows: 1 })
    await breakLedger(tenantId)
    expect(await verifyBounded(engine.table, tenantId)).toMatchObject({ broken: [expect.any(String)], rows: 2 })
  })

  it('gives up on a tenant with too many pages', async () => {
    const { tenantId } = await openTenant(engine.table)
    const endless = {
      ...engine.table,
      queryPage: async () => ({ items: [], nextKey: tableKeys.ledgerGrant(tenantId, 'x') }),
    }
    await expect(verifyBounded(endless, tenantId)).rejects.toThrow(TenantTooLargeError)
  })
})
