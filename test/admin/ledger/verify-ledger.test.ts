import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect, it } from 'vitest'
import { verifyLedger } from '#lambdas/admin/ledger/verify-ledger.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { settledJob } from '../../engines/settled-job.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { openTenant } from '../../engines/video-jobs.ts'

const engine = useTestTable()

/** A settlement that the balance knows nothing of. */
async function breakLedger(tenantId: string): Promise<void> {
  const Item = { ...tableKeys.ledgerGrant(tenantId, 'lost'), kind: 'grant', amount: 5, at: 1 }
  await engine.table.client.send(new PutCommand({ TableName: engine.table.name, Item }))
}

describe('verifyLedger', () => {
  it('finds nothing at a tenant in order, and a sum that is not that of its rows at another one', async () => {
    const [right, wrong] = [await openTenant(engine.table), await openTenant(engine.table)]
    await settledJob(engine.table, right, { bill: '0.1' })
    await breakLedger(wrong.tenantId)
    expect(await verifyLedger(engine.table, right.tenantId)).toEqual([])
    expect(await verifyLedger(engine.table)).toEqual([
      { tenant: wrong.tenantId, message: 'granted is 100 and the sum of grants and adjustments is 100.000005' },
    ])
  })
})
