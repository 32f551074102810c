import { v7 as uuidv7 } from 'uuid'
import { beforeAll, describe, expect, it } from 'vitest'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import { TenantBudgets } from '#adapters/store/money/known-budgets.ts'
import type { NewVideoJob } from '#adapters/store/money/new-video-job.ts'
import { reserveQuota } from '#adapters/store/money/reserve-quota.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { BudgetExceededError } from '#core/budgets.ts'
import { InsufficientQuotaError, InvalidApiKeyError } from '#core/errors.ts'
import { formatCredits } from '#core/money.ts'
import { auditTenant } from '../../../engines/audit.ts'
import {
  clearTenantBudget,
  keyBudgetOf,
  storeKeyBudget,
  storeTenantBudget,
  tenantBudgetOf,
} from '../../../engines/budgets.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { TESTER } from '../../../engines/tester.ts'
import { credits, newJob, openTenant, requireReservation, type TestTenant } from '../../../engines/video-jobs.ts'

const engine = useTestTable()
let table: TableWithClient
beforeAll(async () => {
  table = engine.table
})

/** The last second of a day and of a month. */
const EVE = Date.UTC(2026, 10, 30, 23, 59, 59) / 1000
const DAY = { kind: 'day', atMilliseconds: EVE * 1000 } as const

/** Reserves 0.7 credits. */
async function reserve(tenant: TestTenant, changes: Partial<NewVideoJob> = {}, tenantBudgets?: TenantBudgets) {
  const job = newJob(tenant, { createdAt: EVE, ...changes })
  await reserveQuota(table, job, { tenantBudgets })
  return job
}

async function heldOf({ tenantId }: TestTenant) {
  return formatCredits((await getTenant(table, tenantId)).balance.held)
}

describe('reserveQuota with the budget of a key', () => {
  it('counts the estimate as held and names the budget on the reservation', async () => {
    const tenant = await openTenant(table)
    const budget = await storeKeyBudget(table, uuidv7(), { credits: '2', ...DAY })
    const job = await reserve(tenant, { budget })
    expect(await keyBudgetOf(table, budget.id)).toEqual(['2026-11-30', '0', '0.7', '1.3', '1.3'])
    expect(await requireReservation(table, job)).toMatchObject({ budget, tenantBudgetKind: undefined })
    expect(await auditTenant(table, tenant.tenantId)).toEqual([])
  })

  it('passes with exactly what is left and refuses one millionth less, with the amounts', async () => {
    const tenant = await openTenant(table)
    const budget = await storeKeyBudget(table, uuidv7(), { credits: '1.399999', ...DAY })
    await reserve(tenant, { budget })
    const refused = await reserve(tenant, { budget }).catch((error) => error)
    expect(refused).toBeInstanceOf(BudgetExceededError)
    expect(refused.shortfall).toStrictEqual({
      of: 'api key',
      needed: 700_000n,
      left: 699_999n,
      period: { kind: 'day', id: '2026-11-30' },
    })
    expect(await heldOf(tenant)).toBe('0.7')
    expect(await keyBudgetOf(table, budget.id)).toEqual(['2026-11-30', '0', '0.7', '0.699999', '0.699999'])
    const enough = await storeKeyBudget(table, uuidv7(), { credits: '0.7', ...DAY })
    await reserve(tenant, { budget: enough })
  })

  it('begins a new period with what holds of earlier periods leave', async () => {
    const tenant = await openTenant(table)
    const budget = await storeKeyBudget(table, uuidv7(), { credits: '2', ...DAY })
    await reserve(tenant, { budget })
    await reserve(tenant, { budget, createdAt: EVE + 1 })
    expect(await keyBudgetOf(table, budget.id)).toEqual(['2026-12-01', '0', '1.4', '0.6', '0.6'])
    await expect(reserve(tenant, { budget, createdAt: EVE + 2 })).rejects.toBeInstanceOf(BudgetExceededError)
  })

  it('counts in the later period while this clock is behind', async () => {
    const tenant = await openTenant(table)
    const budget = await storeKeyBudget(table, uuidv7(), {
      credits: '2',
      kind: 'day',
      atMilliseconds: (EVE + 1) * 1000,
    })
    await reserve(tenant, { budget })
    await reserve(tenant, { budget })
    expect(await keyBudgetOf(table, budget.id)).toEqual(['2026-12-01', '0', '1.4', '0.6', '0.6'])
    await expect(reserve(tenant, { budget })).rejects.toBeInstanceOf(BudgetExceededError)
  })

  it('follows a kind of period that the key does not know yet', async () => {
    const tenant = await openTenant(table)
    const { id } = await storeKeyBudget(table, uuidv7(), { credits: '2', kind: 'total', atMilliseconds: 0 })
    const job = await reserve(tenant, { budget: { id, kind: 'month' } })
    expect(await requireReservation(table, job)).toMatchObject({ budget: { id, kind: 'total' } })
  })

  it('refuses while the budget is missing from the table', async () => {
    const tenant = await openTenant(table)
    const refused = await reserve(tenant, { budget: { id: uuidv7(), kind: 'day' } }).catch((error) => error)
    expect(refused).toBeInstanceOf(BudgetExceededError)
    expect(refused.shortfall).toBeUndefined()
    expect(await heldOf(tenant)).toBe('0')
  })
})

describe('reserveQuota with the budget of a tenant', () => {
  it('counts on the balance, in the same write', async () => {
    const tenant = await openTenant(table)
    await storeTenantBudget(table, tenant.tenantId, { credits: '1.5', kind: 'month', atMilliseconds: EVE * 1000 })
    const job = await reserve(tenant)
    expect(await tenantBudgetOf(table, tenant.tenantId)).toEqual(['2026-11', '0', '0.7', '0.8', '0.8'])
    expect(await requireReservation(table, job)).toMatchObject({ tenantBudgetKind: 'month' })
    await reserve(tenant)
    const refused = await reserve(tenant).catch((error) => error)
    expect(refused).toBeInstanceOf(BudgetExceededError)
    expect(refused.shortfall).toMatchObject({ of: 'tenant', needed: 700_000n, left: 100_000n })
    expect(await heldOf(tenant)).toBe('1.4')
  })

  it('begins a new period, once, for a process that remembers the earlier one', async () => {
    const tenant = await openTenant(table)
    const memory = new TenantBudgets()
    await storeTenantBudget(table, tenant.tenantId, { credits: '2.8', ...DAY })
    await reserve(tenant, {}, memory)
    await reserve(tenant, { createdAt: EVE + 1 }, memory)
    await reserve(tenant, { createdAt: EVE + 2 }, memory)
    expect(await tenantBudgetOf(table, tenant.tenantId)).toEqual(['2026-12-01', '0', '2.1', '0.7', '0.7'])
  })

  it('notices a budget that was set, and one that was cleared, while it remembers otherwise', async () => {
    const tenant = await openTenant(table)
    const memory = new TenantBudgets()
    await storeTenantBudget(table, tenant.tenantId, { credits: '0.7', ...DAY })
    await reserve(tenant, {}, memory)
    expect(memory.kindOf(tenant.tenantId)).toBe('day')
    await expect(reserve(tenant, {}, memory)).rejects.toBeInstanceOf(BudgetExceededError)
    await clearTenantBudget(table, tenant.tenantId)
    await reserve(tenant, {}, memory)
    expect(memory.kindOf(tenant.tenantId)).toBeUndefined()
    expect(await heldOf(tenant)).toBe('1.4')
  })
})

describe('the order of refusals', () => {
  it('is the key, its budget, the budget of the tenant, the funds', async () => {
    const tenant = await openTenant(table, '0')
    const budget = await storeKeyBudget(table, uuidv7(), { credits: '0.1', ...DAY })
    await storeTenantBudget(table, tenant.tenantId, { credits: '0.2', ...DAY })
    const refusal = (changes = {}) => reserve(tenant, changes).catch((error) => error)
    expect(await refusal({ budget })).toMatchObject({ name: 'BudgetExceededError', shortfall: { of: 'api key' } })
    expect(await refusal()).toMatchObject({ name: 'BudgetExceededError', shortfall: { of: 'tenant' } })
    await clearTenantBudget(table, tenant.tenantId)
    expect(await refusal()).toBeInstanceOf(InsufficientQuotaError)
    await revokeApiKey(table, tenant.keyDigest.slice(0, 8), TESTER)
    expect(await refusal({ budget })).toBeInstanceOf(InvalidApiKeyError)
  })

  it('finds the job of an idempotency key before budgets are judged, and counts it once', async () => {
    const tenant = await openTenant(table)
    const budget = await storeKeyBudget(table, uuidv7(), { credits: '0.7', ...DAY })
    await storeTenantBudget(table, tenant.tenantId, { credits: '0.7', ...DAY })
    const idempotency = { digest: 'd1', bodyHash: 'b1', expiresAt: EVE + 86_400 }
    await reserve(tenant, { budget, idempotency })
    await expect(reserve(tenant, { budget, idempotency })).rejects.toMatchObject({ name: 'IdempotencyKeyTakenError' })
    expect(await keyBudgetOf(table, budget.id)).toEqual(['2026-11-30', '0', '0.7', '0', '0'])
    expect(await tenantBudgetOf(table, tenant.tenantId)).toEqual(['2026-11-30', '0', '0.7', '0', '0'])
  })
})

describe('a race of 64 creates', () => {
  it.each([
    ['a key', true, false],
    ['a tenant', false, true],
    ['both', true, true],
  ])(
    'lets exactly those pass for which the budget of %s has room after the end of a period',
    async (_, key, own) => {
      const tenant = await openTenant(table, '1000')
      const budget = key ? await storeKeyBudget(table, uuidv7(), { credits: '7', spent: '6.5', ...DAY }) : undefined
      if (own) {
        await storeTenantBudget(table, tenant.tenantId, { credits: '7', spent: '6.5', ...DAY })
      }
      const memories = Array.from({ length: 4 }, () => new TenantBudgets())
      const outcomes = await Promise.allSettled(
        Array.from({ length: 64 }, (_unused, index) =>
          // Clocks of four processes, two of which are past the end of the day.
          reserve(tenant, { budget, createdAt: EVE + (index % 2) }, memories[index % 4]),
        ),
      )
      const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
      expect(new Set(refusals.map(({ name }) => name))).toEqual(new Set(['BudgetExceededError']))
      expect(64 - refusals.length).toBe(10)
      const full = ['2026-12-01', '0', '7', '0', '0']
      expect(budget === undefined ? full : await keyBudgetOf(table, budget.id)).toEqual(full)
      expect(own ? await tenantBudgetOf(table, tenant.tenantId) : full).toEqual(full)
      expect(await heldOf(tenant)).toBe('7')
      expect(await auditTenant(table, tenant.tenantId)).toEqual([])
    },
    60_000,
  )
})

describe('reserveQuota without a price', () => {
  it('leaves the budget of the key alone, and names it for a bill above zero', async () => {
    const tenant = await openTenant(table)
    const budget = await storeKeyBudget(table, uuidv7(), { credits: '0', ...DAY })
    const job = await reserve(tenant, { budget, estimate: credits('0') })
    expect(await requireReservation(table, job)).toMatchObject({ budget })
    expect(await table.readItem(tableKeys.keyBudget(budget.id))).toMatchObject({ held: 0 })
  })
})
