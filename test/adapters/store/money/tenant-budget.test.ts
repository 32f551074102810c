import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { v7 as uuidv7 } from 'uuid'
import { beforeAll, describe, expect, it } from 'vitest'
import { grantCredits } from '#adapters/store/accounts/grant-credits.ts'
import { readAudit } from '#adapters/store/audit/read-audit.ts'
import { changeTenant } from '#adapters/store/money/change-tenant.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { parseBudgetLimit } from '#core/budgets.ts'
import { microcredits, parseCredits } from '#core/money.ts'
import { auditTenant } from '../../../engines/audit.ts'
import { tenantBudgetOf } from '../../../engines/budgets.ts'
import { settledJob } from '../../../engines/settled-job.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { TESTER } from '../../../engines/tester.ts'
import { openTenant, reserveJob } from '../../../engines/video-jobs.ts'

const engine = useTestTable()
let table: TableWithClient
beforeAll(async () => {
  table = engine.table
})

/** The last second of a day and of a month. */
const EVE = Date.UTC(2026, 10, 30, 23, 59, 59) / 1000

/** Orders the entries of the audit log. */
let changes = 0

const set = (tenantId: string, limit: string | null, atSeconds = EVE) =>
  changeTenant(table, {
    tenantId,
    settings: { budget: limit === null ? null : parseBudgetLimit(limit) },
    actor: TESTER,
    clock: {
      nowMilliseconds: () => {
        changes += 1
        return atSeconds * 1000 + (changes % 1000)
      },
    },
  })

const auditOf = async (tenantId: string) =>
  (await readAudit(table, { limit: 50, targets: [tenantId] })).entries
    .filter(({ action }) => action === 'tenant set')
    .map(({ before, after }) => [before?.budget, after?.budget])
    .toReversed()

/** A tenant that settled 0.5 in October, 0.4 on the first and 0.3 on the last of November, and holds 0.7. */
async function spendingTenant() {
  const tenant = await openTenant(table)
  for (const [bill, createdAt] of [
    ['0.5', EVE - 40 * 86_400],
    ['0.4', EVE - 29 * 86_400],
    ['0.3', EVE],
  ] as const) {
    await settledJob(table, tenant, { bill, createdAt })
  }
  await reserveJob(table, tenant, { createdAt: EVE })
  return tenant
}

describe('changeTenant', () => {
  it.each([
    ['10/day', '2026-11-30', '0.3', '9'],
    ['10/month', '2026-11', '0.7', '8.6'],
    ['10/total', 'total', '1.2', '8.1'],
  ])(
    'begins %s with what the period has spent so far and with everything that is held',
    async (limit, id, spent, left) => {
      const { tenantId } = await spendingTenant()
      expect(await set(tenantId, limit)).toEqual({ isChanged: true, isExact: true })
      expect(await tenantBudgetOf(table, tenantId)).toEqual([id, spent, '0.7', left, '9.3'])
      expect(await auditTenant(table, tenantId)).toEqual([])
    },
  )

  it('lowers and raises the amount, even below what is spent', async () => {
    const { tenantId } = await spendingTenant()
    await set(tenantId, '10/month')
    await set(tenantId, '1/month')
    expect(await tenantBudgetOf(table, tenantId)).toEqual(['2026-11', '0.7', '0.7', '-0.4', '0.3'])
    await set(tenantId, '2/month')
    expect(await tenantBudgetOf(table, tenantId)).toEqual(['2026-11', '0.7', '0.7', '0.6', '1.3'])
    expect(await auditOf(tenantId)).toEqual([
      [null, '10/month'],
      ['10/month', '1/month'],
      ['1/month', '2/month'],
    ])
  })

  it('counts again for another kind of period', async () => {
    const { tenantId } = await spendingTenant()
    await set(tenantId, '10/month')
    await set(tenantId, '5/day')
    expect(await tenantBudgetOf(table, tenantId)).toEqual(['2026-11-30', '0.3', '0.7', '4', '4.3'])
  })

  it('ends a budget, and begins another one afresh', async () => {
    const { tenantId } = await spendingTenant()
    await set(tenantId, '10/month')
    expect(await set(tenantId, null)).toMatchObject({ isChanged: true })
    expect(await tenantBudgetOf(table, tenantId)).toBeUndefined()
    expect(await set(tenantId, null)).toMatchObject({ isChanged: false })
    await set(tenantId, '5/day')
    expect(await tenantBudgetOf(table, tenantId)).toEqual(['2026-11-30', '0.3', '0.7', '4', '4.3'])
  })

  it('writes nothing for the same budget, and repairs one whose counts are wrong', async () => {
    const { tenantId } = await spendingTenant()
    await set(tenantId, '10/month')
    expect(await set(tenantId, '10/month')).toMatchObject({ isChanged: false })
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: tableKeys.balance(tenantId),
        UpdateExpression: 'SET budgetLeft = budgetLeft - :drift, budgetFree = budgetFree - :drift',
        ExpressionAttributeValues: { ':drift': 12_345 },
      }),
    )
    expect(await set(tenantId, '10/month')).toMatchObject({ isChanged: true })
    expect(await tenantBudgetOf(table, tenantId)).toEqual(['2026-11', '0.7', '0.7', '8.6', '9.3'])
  })

  it('is exact while requests are reserved, settled and granted at the same time', async () => {
    const tenant = await openTenant(table, '1000')
    const { tenantId } = tenant
    const traffic = Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        await settledJob(table, tenant, { bill: `0.${index + 1}`, createdAt: EVE })
        await grantCredits(table, tenantId, {
          grantId: `g${index}`,
          credits: parseCredits('1'),
          nowMilliseconds: EVE * 1000,
          actor: TESTER,
        })
      }),
    )
    await set(tenantId, '500/month')
    await traffic
    const balance = await table.readItem(tableKeys.balance(tenantId))
    const [id, spent, held] = (await tenantBudgetOf(table, tenantId)) ?? []
    expect([id, held]).toEqual(['2026-11', '0'])
    expect(parseCredits(spent ?? '')).toBe(microcredits(Number(balance?.spent)))
    expect(await set(tenantId, '500/month')).toMatchObject({ isChanged: false })
  }, 60_000)

  it('of two operators, each finds the change of the other', async () => {
    const { tenantId } = await spendingTenant()
    await Promise.all([set(tenantId, '10/month'), set(tenantId, '20/month'), set(tenantId, '30/day')])
    await set(tenantId, '5/month')
    expect(await tenantBudgetOf(table, tenantId)).toEqual(['2026-11', '0.7', '0.7', '3.6', '4.3'])
    const entries = await auditOf(tenantId)
    const [befores, afters] = [0, 1].map((index) => entries.map((entry) => String(entry[index])).toSorted())
    expect(['5/month', ...(befores ?? [])].toSorted()).toEqual(['null', ...(afters ?? [])].toSorted())
  })

  it('refuses a tenant that does not exist', async () => {
    await expect(set(uuidv7(), '5/month')).rejects.toMatchObject({ code: 'not_found' })
  })
})
