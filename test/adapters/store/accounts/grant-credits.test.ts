import { beforeAll, describe, expect, it } from 'vitest'
import { grantCredits } from '#adapters/store/accounts/grant-credits.ts'
import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import { readAudit } from '#adapters/store/audit/read-audit.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { auditTenant } from '../../../engines/audit.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import { TESTER } from '../../../engines/tester.ts'
import { credits, openTenant } from '../../../engines/video-jobs.ts'

const engine = useTestTable()
let table: Table
beforeAll(async () => {
  table = engine.table
})

const grant = (grantId: string, amount: string) => ({ grantId, credits: credits(amount), nowMilliseconds: 1_000 })

describe('a grant', () => {
  it('adds to what is available and to what was granted', async () => {
    const { tenantId } = await openTenant(table, '5')
    await grantCredits(table, tenantId, { ...grant('second', '0.25'), actor: TESTER })
    expect((await getTenant(table, tenantId)).balance).toMatchObject({
      available: credits('5.25'),
      granted: credits('5.25'),
    })
  })

  it('repeated under one id, also at the same time, is one grant, and none of another amount', async () => {
    const { tenantId } = await openTenant(table, '5')
    await Promise.all([1, 2, 3].map(() => grantCredits(table, tenantId, { ...grant('same', '1'), actor: TESTER })))
    expect(await grantCredits(table, tenantId, { ...grant('same', '1'), actor: TESTER })).toBe(false)
    await expect(grantCredits(table, tenantId, { ...grant('same', '2'), actor: TESTER })).rejects.toMatchObject({
      code: 'id_taken',
    })
    expect((await getTenant(table, tenantId)).balance.granted).toBe(credits('6'))
    expect(await auditTenant(table, tenantId)).toEqual([])
  })

  it('is recorded once under its id', async () => {
    const { tenantId } = await openTenant(table, '5')
    await Promise.all([1, 2, 3].map(() => grantCredits(table, tenantId, { ...grant('bill', '1.5'), actor: TESTER })))
    await expect(grantCredits(table, tenantId, { ...grant('bill', '2'), actor: TESTER })).rejects.toThrow()
    const { entries } = await readAudit(table, { limit: 10, targets: [tenantId], actor: TESTER.name })
    expect(entries.filter(({ action }) => action === 'tenant grant')).toMatchObject([
      { kind: 'tenant', target: tenantId, before: null, after: { amount: '1.5', reference: 'bill' } },
    ])
  })
})
