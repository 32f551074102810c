import { describe, expect, it } from '@jest/globals'
import { formatCredits } from '#core/money.ts'
import type { Table, TableQuery } from '#store/table/table.ts'
import { changeTenant } from '#store/tenants/change-tenant.ts'
import { grantTenant } from '#store/tenants/credits.ts'
import { createTenant, suspendTenant } from '#store/tenants/tenant-lifecycle.ts'
import {
  getTenant,
  isTenantInState,
  listTenantIds,
  listTenantNames,
  listTenants,
  readTenantState,
  type TenantState,
} from '#store/tenants/tenants.ts'
import { auditTenant } from '../../engines/audit.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { credits, openTenant, reserveJob, TESTER } from '../../engines/video-jobs.ts'

describe('tenants of the store:', () => {
  const { table } = useTestTable()

  describe('createTenant: a tenant', () => {
    it('begins with its first grant available', async () => {
      const { tenantId, webhookSecret } = await openTenant(table, '12.5')
      const tenant = await getTenant(table, tenantId)
      expect(Object.values(tenant.balance).map(formatCredits)).toEqual(['12.5', '0', '0', '12.5'])
      expect(tenant.webhookSecret).toBe(webhookSecret)
      expect(await listTenantIds(table)).toContain(tenantId)
      expect(await auditTenant(table, tenantId)).toEqual([])
    })

    it('is made once, and the second attempt changes nothing', async () => {
      const { tenantId } = await openTenant(table, '5')
      const again = {
        id: tenantId,
        name: 'Other',
        webhookSecret: 'x',
        credits: credits('9'),
        grantId: 'g',
        nowMilliseconds: 1,
      }
      await expect(createTenant(table, again, TESTER)).rejects.toMatchObject({ code: 'id_taken' })
      expect(await getTenant(table, tenantId)).toMatchObject({ name: 'Test', balance: { granted: credits('5') } })
    })

    it('that does not exist is told apart from every other fault', async () => {
      await expect(getTenant(table, 'nobody')).rejects.toMatchObject({ code: 'not_found' })
      await expect(grantTenant(table, 'nobody', { credits: credits('1'), actor: TESTER })).rejects.toMatchObject({
        code: 'not_found',
      })
    })
  })

  describe('listTenants: the list', () => {
    it('has each with its balance, its state and its open jobs, and never its secret', async () => {
      const tenant = await openTenant(table, '5')
      await reserveJob(table, tenant)
      await changeTenant(table, { tenantId: tenant.tenantId, settings: { openJobsMax: 3 }, actor: TESTER })
      const listing = (await listTenants(table)).find(({ id }) => id === tenant.tenantId)
      expect(listing).toEqual({
        id: tenant.tenantId,
        name: 'Test',
        createdAt: expect.any(Number),
        state: 'active',
        suspension: null,
        openJobs: { count: 1, max: 3 },
        budget: null,
        balance: { available: credits('4.3'), held: credits('0.7'), spent: 0n, granted: credits('5') },
      })
    })
  })
})

describe('isTenantInState', () => {
  const { table } = useTestTable()

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
})

describe('listTenantNames', () => {
  it('asks for names alone, because the policies of functions that take tokens allow nothing else', async () => {
    const queries: TableQuery[] = []
    const queryPage: Table['queryPage'] = async (query) => {
      queries.push(query)
      return { items: [{ SK: 'acme', name: 'Acme' }], nextKey: undefined }
    }
    expect(await listTenantNames({ queryPage })).toEqual([{ id: 'acme', name: 'Acme' }])
    expect(queries).toMatchObject([{ Select: 'SPECIFIC_ATTRIBUTES', ProjectionExpression: 'SK, #name' }])
  })
})
