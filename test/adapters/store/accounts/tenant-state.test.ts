import { beforeAll, describe, expect, it } from 'vitest'
import { isTenantInState, readTenantState, type TenantState } from '#adapters/store/accounts/tenant-state.ts'
import { suspendTenant } from '#adapters/store/accounts/tenant-suspension.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import { TESTER } from '../../../engines/tester.ts'
import { openTenant } from '../../../engines/video-jobs.ts'

const engine = useTestTable()
let table: Table
beforeAll(async () => {
  table = engine.table
})

/** The id of a tenant in this state; for undefined, of no tenant. */
async function tenantIn(state: TenantState | undefined): Promise<string> {
  if (state === undefined) {
    return 'nobody'
  }
  const { tenantId } = await openTenant(table)
  if (state === 'suspended') {
    await suspendTenant(table, tenantId, { actor: TESTER })
  }
  return tenantId
}

describe.each([undefined, 'active', 'suspended'] as const)('tenant-state of a tenant that is %s', (state) => {
  it('is read as such', async () => {
    expect(await readTenantState(table, await tenantIn(state))).toBe(state)
  })

  it('lets a transaction pass that expects this state, and no other', async () => {
    const tenantId = await tenantIn(state)
    for (const expected of [undefined, 'active', 'suspended'] as const) {
      const transaction = table.transact({ tenant: { ConditionCheck: isTenantInState(tenantId, expected) } })
      if (expected === state) {
        await transaction
      } else {
        await expect(transaction).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
      }
    }
  })
})
