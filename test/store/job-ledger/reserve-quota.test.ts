import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { BudgetExceededError } from '#core/budgets.ts'
import { InsufficientQuotaError, InvalidApiKeyError } from '#core/errors.ts'
import { formatCredits } from '#core/money.ts'
import { TenantBudgets } from '#store/budget-moves.ts'
import { IdempotencyKeyTakenError } from '#store/job-ledger/idempotency-keys.ts'
import { type NewVideoJob, reserveQuota } from '#store/job-ledger/reserve-quota.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { auditTenant, readPartition } from '../../engines/audit.ts'
import {
  clearTenantBudget,
  keyBudgetOf,
  storeKeyBudget,
  storeTenantBudget,
  tenantBudgetOf,
} from '../../engines/budgets.ts'
import { breakConnection, type TableWithClient } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import {
  credits,
  ESTIMATE,
  newJob,
  openTenant,
  requireReservation,
  reserveJob,
  TESTER,
  type TestTenant,
} from '../../engines/video-jobs.ts'

describe('reserveQuota:', () => {
  const engine = useTestTable()
  let table: TableWithClient
  beforeEach(() => {
    table = engine.table
  })

  async function balanceOf({ tenantId }: TestTenant) {
    const { available, held, spent, granted } = (await getTenant(table, tenantId)).balance
    return [available, held, spent, granted].map(formatCredits)
  }

  /** What lies in the table of a tenant besides its balance and grant. */
  async function writesOf({ tenantId }: TestTenant): Promise<number> {
    return (
      (await readPartition(table, `T#${tenantId}`)).length + (await readPartition(table, `L#${tenantId}`)).length - 1
    )
  }

  async function expireKey({ keyDigest }: TestTenant, expiresAt: number): Promise<void> {
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: tableKeys.apiKey(keyDigest),
        UpdateExpression: 'SET expiresAt = :at',
        ExpressionAttributeValues: { ':at': expiresAt },
      }),
    )
  }

  describe('a create', () => {
    it('locks exactly the estimate and writes job, reservation and ledger row', async () => {
      const tenant = await openTenant(table, '1')
      const job = await reserveJob(table, tenant, { callbackUrl: 'https://hooks.example.com/x' })
      expect(await balanceOf(tenant)).toEqual(['0.3', '0.7', '0', '1'])
      expect(await requireReservation(table, job)).toMatchObject({
        amount: ESTIMATE,
        state: 'held',
        request: job.request,
        restarts: 0,
      })
      expect(await getVideoJob(table, job.tenantId, job.jobId)).toMatchObject({
        status: 'queued',
        isDeleted: false,
        estimate: ESTIMATE,
        callbackUrl: job.callbackUrl,
      })
      expect(await auditTenant(table, tenant.tenantId)).toEqual([])
    })

    it('allows exactly the funds of the estimate and refuses one millionth less', async () => {
      const enough = await openTenant(table, '0.7')
      await reserveJob(table, enough)
      expect(await balanceOf(enough)).toEqual(['0', '0.7', '0', '0.7'])
      const short = await openTenant(table, '0.699999')
      await expect(reserveJob(table, short)).rejects.toBeInstanceOf(InsufficientQuotaError)
      expect(await balanceOf(short)).toEqual(['0.699999', '0', '0', '0.699999'])
      expect(await writesOf(short)).toBe(0)
    })

    it('keeps an estimate beyond the exact range of a double whole', async () => {
      const tenant = await openTenant(table, '9999999.999999')
      const estimate = credits('9999999.999998')
      const job = await reserveJob(table, tenant, { estimate })
      expect((await requireReservation(table, job)).amount).toBe(estimate)
      expect(await balanceOf(tenant)).toEqual(['0.000001', '9999999.999998', '0', '9999999.999999'])
    })

    it('refuses a revoked key before funds are judged', async () => {
      const tenant = await openTenant(table, '0')
      await revokeApiKey(table, tenant.keyDigest.slice(0, 8), TESTER)
      await expect(reserveJob(table, tenant)).rejects.toBeInstanceOf(InvalidApiKeyError)
      expect(await writesOf(tenant)).toBe(0)
    })

    it('refuses a key from the second of its end on, before funds are judged', async () => {
      const tenant = await openTenant(table, '0')
      const now = Math.trunc(Date.now() / 1000)
      await expireKey(tenant, now)
      await expect(reserveJob(table, tenant, { createdAt: now })).rejects.toBeInstanceOf(InvalidApiKeyError)
      await expect(reserveJob(table, tenant, { createdAt: now - 1 })).rejects.toBeInstanceOf(InsufficientQuotaError)
    })

    it('refuses a key that nobody has', async () => {
      const tenant = await openTenant(table)
      await expect(reserveJob(table, { ...tenant, keyDigest: 'f'.repeat(64) })).rejects.toBeInstanceOf(
        InvalidApiKeyError,
      )
    })

    it('refuses a tenant that is being suspended like a revoked key, whatever its balance', async () => {
      const tenant = await openTenant(table)
      // The first step of a suspension: no key is marked yet.
      await table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: tableKeys.balance(tenant.tenantId),
          UpdateExpression: 'SET #state = :suspended',
          ExpressionAttributeNames: { '#state': 'state' },
          ExpressionAttributeValues: { ':suspended': 'suspended' },
        }),
      )
      await expect(reserveJob(table, tenant)).rejects.toBeInstanceOf(InvalidApiKeyError)
      expect(await writesOf(tenant)).toBe(0)
    })

    it('refuses a key that a suspension has marked, before funds are judged', async () => {
      const tenant = await openTenant(table, '0')
      await table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: tableKeys.apiKey(tenant.keyDigest),
          UpdateExpression: 'SET suspended = :true',
          ExpressionAttributeValues: { ':true': true },
        }),
      )
      await expect(reserveJob(table, tenant)).rejects.toBeInstanceOf(InvalidApiKeyError)
    })

    it('allows exactly ten of fifty concurrent creates on funds for ten', async () => {
      const tenant = await openTenant(table, '7')
      const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => reserveJob(table, tenant)))
      const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
      expect(outcomes.length - refusals.length).toBe(10)
      expect(refusals.every((error) => error instanceof InsufficientQuotaError)).toBe(true)
      expect(await balanceOf(tenant)).toEqual(['0', '7', '0', '7'])
      expect(await auditTenant(table, tenant.tenantId)).toEqual([])
    })

    it('makes one job and one lock when the reply of the table is lost', async () => {
      const tenant = await openTenant(table)
      const job = newJob(tenant)
      breakConnection(table, job.jobId)
      await reserveQuota(table, job)
      expect(await balanceOf(tenant)).toEqual(['99.3', '0.7', '0', '100'])
      expect(await auditTenant(table, tenant.tenantId)).toEqual([])
    })
  })

  describe('an idempotency key', () => {
    const now = Math.trunc(Date.now() / 1000)
    const idempotency = (expiresAt = now + 86_400) => ({ digest: 'd1', bodyHash: 'b1', expiresAt })

    it('stands for one job: the second reservation under it writes nothing', async () => {
      const tenant = await openTenant(table)
      await reserveJob(table, tenant, { idempotency: idempotency() })
      await expect(reserveJob(table, tenant, { idempotency: idempotency() })).rejects.toBeInstanceOf(
        IdempotencyKeyTakenError,
      )
      expect(await balanceOf(tenant)).toEqual(['99.3', '0.7', '0', '100'])
    })

    it('is found taken before funds are judged, and after the key', async () => {
      const tenant = await openTenant(table, '0.7')
      await reserveJob(table, tenant, { idempotency: idempotency() })
      await expect(reserveJob(table, tenant, { idempotency: idempotency() })).rejects.toBeInstanceOf(
        IdempotencyKeyTakenError,
      )
      await revokeApiKey(table, tenant.keyDigest.slice(0, 8), TESTER)
      await expect(reserveJob(table, tenant, { idempotency: idempotency() })).rejects.toBeInstanceOf(InvalidApiKeyError)
    })

    it('is not kept when funds do not suffice', async () => {
      const tenant = await openTenant(table, '0')
      await expect(reserveJob(table, tenant, { idempotency: idempotency() })).rejects.toBeInstanceOf(
        InsufficientQuotaError,
      )
      expect(await readPartition(table, `I#${tenant.tenantId}#d1`)).toEqual([])
    })

    it('is free again from the second of its end on, collected or not', async () => {
      const tenant = await openTenant(table)
      await reserveJob(table, tenant, { createdAt: now, idempotency: idempotency(now + 10) })
      const again = (createdAt: number) =>
        reserveJob(table, tenant, { createdAt, idempotency: idempotency(createdAt + 10) })
      await expect(again(now + 9)).rejects.toBeInstanceOf(IdempotencyKeyTakenError)
      await again(now + 10)
    })

    it('belongs to its tenant', async () => {
      const [one, other] = [await openTenant(table), await openTenant(table)]
      await reserveJob(table, one, { idempotency: idempotency() })
      await reserveJob(table, other, { idempotency: idempotency() })
    })

    it('allows one of ten concurrent creates under it', async () => {
      const tenant = await openTenant(table)
      const creates = Array.from({ length: 10 }, () => reserveJob(table, tenant, { idempotency: idempotency() }))
      const outcomes = await Promise.allSettled(creates)
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await balanceOf(tenant)).toEqual(['99.3', '0.7', '0', '100'])
    })
  })

  describe('a create for a job id that exists', () => {
    it('writes nothing and moves no money', async () => {
      const tenant = await openTenant(table)
      const job = await reserveJob(table, tenant)
      await expect(reserveQuota(table, job)).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
      expect(await balanceOf(tenant)).toEqual(['99.3', '0.7', '0', '100'])
    })
  })
})

describe('reserveQuota with budgets:', () => {
  const { table } = useTestTable()

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

  describe('the budget of a key', () => {
    it('counts the estimate as held and names the budget on the reservation', async () => {
      const tenant = await openTenant(table)
      const budget = await storeKeyBudget(table, uuidv7(), { credits: '2', ...DAY })
      const job = await reserve(tenant, { budget })
      expect(await keyBudgetOf(table, budget.id)).toEqual(['2026-11-30', '0', '0.7', '1.3', '1.3'])
      expect(await requireReservation(table, job)).toMatchObject({ budget, tenantBudgetKind: undefined })
      expect(await auditTenant(table, tenant.tenantId)).toEqual([])
    })

    it('allows exactly what is left and refuses one millionth less, with the amounts', async () => {
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

  describe('the budget of a tenant', () => {
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
    ])('lets exactly those pass for which the budget of %s has room after the end of a period', async (_, key, own) => {
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
    })
  })

  describe('a create without a price', () => {
    it('leaves the budget of the key alone, and names it for a bill above zero', async () => {
      const tenant = await openTenant(table)
      const budget = await storeKeyBudget(table, uuidv7(), { credits: '0', ...DAY })
      const job = await reserve(tenant, { budget, estimate: credits('0') })
      expect(await requireReservation(table, job)).toMatchObject({ budget })
      expect(await table.readItem(tableKeys.keyBudget(budget.id))).toMatchObject({ held: 0 })
    })
  })
})
