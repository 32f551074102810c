import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { type Budget, parseBudgetLimit } from '#core/budgets.ts'
import { InsufficientQuotaError, InvalidApiKeyError, TooManyOpenJobsError } from '#core/errors.ts'
import { microcredits, parseCredits } from '#core/money.ts'
import { requireVideoJob } from '#lambdas/pipeline/step-context.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { IdempotencyKeyTakenError } from '#store/job-ledger/idempotency-keys.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import type { NamedWrites } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { beginBudget, changeBudgetAmount, changeTenant, clearBudget } from '#store/tenants/change-tenant.ts'
import { grantTenant } from '#store/tenants/credits.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { auditTenant } from '../../engines/audit.ts'
import { tenantBudgetOf } from '../../engines/budgets.ts'
import type { TestTable } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import {
  openTenant,
  RELEASE,
  requireReservation,
  reserveJob,
  settledJob,
  TESTER,
  type TestTenant,
} from '../../engines/video-jobs.ts'

describe('changeTenant for all settings', () => {
  const engine = useTestTable()

  const BUDGET = { amount: parseCredits('5'), kind: 'total' } as const

  /** The methods of the table, which a test replaces one by one. */
  function bound({ table }: TestTable) {
    return {
      readItem: table.readItem.bind(table),
      readItems: table.readItems.bind(table),
      queryPage: table.queryPage.bind(table),
      updateItem: table.updateItem.bind(table),
    }
  }

  it('changes name, limit and budget in one transaction, and again when the balance moved meanwhile', async () => {
    const tenant = await openTenant(engine.table)
    const { tenantId } = tenant
    const sent: NamedWrites[] = []
    const transact = async (writes: NamedWrites) => {
      if (sent.push(writes) === 1) {
        // A budget begins with what is granted, so a grant refuses the first try.
        await grantTenant(engine.table, tenantId, { credits: parseCredits('1'), actor: TESTER })
      }
      await engine.table.transact(writes)
    }
    const settings = { name: 'New', openJobsMax: 4, budget: BUDGET }
    const table = { ...bound(engine), transact }
    expect(await changeTenant(table, { tenantId, settings, actor: TESTER })).toEqual({ isChanged: true, isExact: true })
    expect(sent).toHaveLength(2)
    await reserveJob(engine.table, tenant)
    const changed = await getTenant(engine.table, tenantId)
    expect(changed).toMatchObject({
      name: 'New',
      openJobs: { count: 1, max: 4 },
      budget: { amount: 5_000_000n, left: 4_300_000n },
    })
    const { entries } = await readAudit(engine.table, { limit: 1, targets: [tenantId] })
    expect(entries).toMatchObject([{ action: 'tenant set', after: { name: 'New', openJobs: 4, budget: '5/total' } }])
  })

  it('removes limit and budget together', async () => {
    const { tenantId } = await openTenant(engine.table)
    const change = (settings: Parameters<typeof changeTenant>[1]['settings']) =>
      changeTenant(engine.table, { tenantId, settings, actor: TESTER })
    await change({ openJobsMax: 4, budget: BUDGET })
    await change({ openJobsMax: null, budget: null })
    expect(await getTenant(engine.table, tenantId)).toMatchObject({ openJobs: { max: null }, budget: null })
    expect(await change({ openJobsMax: null, budget: null, name: 'Test' })).toMatchObject({ isChanged: false })
  })

  it('logs both of two names at once, of which the later one stands', async () => {
    const { tenantId } = await openTenant(engine.table)
    const rename = (name: string) => changeTenant(engine.table, { tenantId, settings: { name }, actor: TESTER })
    await Promise.all([rename('one'), rename('two')])
    const { entries } = await readAudit(engine.table, { limit: 2, targets: [tenantId] })
    expect(new Set(entries.map(({ after }) => after?.name))).toEqual(new Set(['one', 'two']))
    const stands = (await getTenant(engine.table, tenantId)).name
    expect(entries.find(({ before }) => before?.name !== 'Test')?.after).toEqual({ name: stands })
  })

  it('refuses a tenant that does not exist', async () => {
    const change = changeTenant(engine.table, { tenantId: 'nobody', settings: { name: 'a' }, actor: TESTER })
    await expect(change).rejects.toThrow('no tenant nobody')
  })
})

describe('the limit of open jobs:', () => {
  const { table } = useTestTable()
  let tenant: TestTenant
  beforeEach(async () => {
    tenant = await openTenant(table)
  })

  const limit = (max: number | null) =>
    changeTenant(table, { tenantId: tenant.tenantId, settings: { openJobsMax: max }, actor: TESTER })
  const openJobs = async () => (await getTenant(table, tenant.tenantId)).openJobs
  const inOrder = async () => expect(await auditTenant(table, tenant.tenantId)).toEqual([])

  async function release(job: { tenantId: string; jobId: string }): Promise<string> {
    const record = { job: await requireVideoJob(table, job), reservation: await requireReservation(table, job) }
    return await resolveReservation(table, { ...record, resolution: RELEASE, nowMilliseconds: Date.now() })
  }

  async function change(Key: { PK: string; SK: string }, UpdateExpression: string): Promise<void> {
    await table.client.send(new UpdateCommand({ TableName: table.name, Key, UpdateExpression }))
  }

  describe('the open jobs of a tenant', () => {
    it('are counted from the reservation to its resolution, without a limit too', async () => {
      const [first] = [await reserveJob(table, tenant), await reserveJob(table, tenant)]
      expect(await openJobs()).toEqual({ count: 2, max: null })
      expect(await release(first)).toBe('resolved')
      expect(await release(first)).toBe('already_resolved')
      expect(await openJobs()).toEqual({ count: 1, max: null })
      await inOrder()
    })

    it('are never more than the limit, however many creates come at the same time', async () => {
      await limit(5)
      const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => reserveJob(table, tenant)))
      const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
      expect(outcomes.length - refusals.length).toBe(5)
      expect(refusals.filter((error) => !(error instanceof TooManyOpenJobsError))).toEqual([])
      expect(await openJobs()).toEqual({ count: 5, max: 5 })
      await inOrder()
    })

    it('leave room for the next as soon as one has ended', async () => {
      await limit(1)
      const job = await reserveJob(table, tenant)
      await expect(reserveJob(table, tenant)).rejects.toBeInstanceOf(TooManyOpenJobsError)
      await release(job)
      await reserveJob(table, tenant)
      await inOrder()
    })
  })

  describe('at the limit', () => {
    const idempotency = { digest: 'd', bodyHash: 'b', expiresAt: 9_999_999_999 }

    it('a repeat of an accepted create finds its job', async () => {
      await limit(1)
      await reserveJob(table, tenant, { idempotency })
      await expect(reserveJob(table, tenant, { idempotency })).rejects.toBeInstanceOf(IdempotencyKeyTakenError)
    })

    it('a key that may not be used is told first, then missing funds, then the limit', async () => {
      await limit(0)
      await expect(reserveJob(table, tenant)).rejects.toMatchObject({
        statusCode: 429,
        message: 'too many open video jobs',
        retryAfterSeconds: 10,
      })
      const poor = await openTenant(table, '0.69')
      await changeTenant(table, { tenantId: poor.tenantId, settings: { openJobsMax: 0 }, actor: TESTER })
      await expect(reserveJob(table, poor)).rejects.toBeInstanceOf(InsufficientQuotaError)
      await revokeApiKey(table, tenant.keyDigest.slice(0, 8), TESTER)
      await expect(reserveJob(table, tenant)).rejects.toBeInstanceOf(InvalidApiKeyError)
    })
  })

  describe('a limit', () => {
    it('below what is open leaves the open jobs alone and refuses new ones, until it is taken away', async () => {
      await reserveJob(table, tenant)
      await reserveJob(table, tenant)
      await limit(1)
      await expect(reserveJob(table, tenant)).rejects.toBeInstanceOf(TooManyOpenJobsError)
      expect(await openJobs()).toEqual({ count: 2, max: 1 })
      await limit(null)
      await reserveJob(table, tenant)
      expect(await openJobs()).toEqual({ count: 3, max: null })
    })

    it.each([3, null])('set to %s makes a wrong count right, also if that was the limit before', async (max) => {
      await reserveJob(table, tenant)
      await reserveJob(table, tenant)
      await limit(max)
      await change(tableKeys.balance(tenant.tenantId), 'SET openJobs = held')
      await limit(max)
      expect(await openJobs()).toEqual({ count: 2, max })
      await inOrder()
    })

    it('recounts without taking a create or an end of the same moment for an error', async () => {
      const jobs = await Promise.all(Array.from({ length: 5 }, () => reserveJob(table, tenant)))
      await Promise.all([
        ...Array.from({ length: 5 }, (_, index) => limit(100 + index)),
        ...jobs.map(release),
        ...Array.from({ length: 5 }, () => reserveJob(table, tenant)),
      ])
      expect((await openJobs()).count).toBe(5)
      await inOrder()
    })

    it('is recorded when it changes, and not when it is the same', async () => {
      for (const max of [5, 5, null, null]) {
        await limit(max)
      }
      const { entries } = await readAudit(table, { limit: 10, targets: [tenant.tenantId] })
      expect(entries.filter(({ action }) => action === 'tenant set')).toMatchObject([
        { before: { openJobs: 5 }, after: { openJobs: null } },
        { before: { openJobs: null }, after: { openJobs: 5 } },
      ])
    })

    it('of several commands at once is the last one, and each is recorded', async () => {
      await Promise.all([1, 2, 3].map(limit))
      const { entries } = await readAudit(table, { limit: 10, targets: [tenant.tenantId] })
      const changes = entries.filter(({ action }) => action === 'tenant set')
      expect(changes.map(({ after }) => after?.openJobs).toSorted()).toEqual([1, 2, 3])
      expect((await getTenant(table, tenant.tenantId)).openJobs.max).not.toBeNull()
    })

    it('needs its tenant', async () => {
      await expect(
        changeTenant(table, { tenantId: 'nobody', settings: { openJobsMax: 1 }, actor: TESTER }),
      ).rejects.toMatchObject({
        code: 'not_found',
      })
      await expect(
        changeTenant(table, { tenantId: 'nobody', settings: { openJobsMax: null }, actor: TESTER }),
      ).rejects.toMatchObject({
        code: 'not_found',
      })
      const { Item } = await table.client.send(
        new GetCommand({ TableName: table.name, Key: tableKeys.balance('nobody') }),
      )
      expect(Item).toBeUndefined()
    })
  })
})

describe('changeTenant', () => {
  const { table } = useTestTable()

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

  it('begins in the next month where a faster clock has settled in it, with what that month has spent', async () => {
    const tenant = await spendingTenant()
    await settledJob(table, tenant, { bill: '0.2', createdAt: EVE + 120 })
    await set(tenant.tenantId, '10/month')
    expect(await tenantBudgetOf(table, tenant.tenantId)).toEqual(['2026-12', '0.2', '0.7', '9.1', '9.3'])
    expect(await auditTenant(table, tenant.tenantId)).toEqual([])
  })

  it('begins in the next month, too, if a faster clock settles in it while the budget is counted', async () => {
    const tenant = await spendingTenant()
    let settled: Promise<unknown> | undefined
    const queryPage: typeof table.queryPage = async (query, startKey) => {
      const page = await table.queryPage(query, startKey)
      settled ??= settledJob(table, tenant, { bill: '0.2', createdAt: EVE + 120 })
      await settled
      return page
    }
    await changeTenant(
      { ...table, queryPage },
      {
        tenantId: tenant.tenantId,
        settings: { budget: parseBudgetLimit('10/month') },
        actor: TESTER,
        clock: { nowMilliseconds: () => EVE * 1000 },
      },
    )
    expect(await tenantBudgetOf(table, tenant.tenantId)).toEqual(['2026-12', '0.2', '0.7', '9.1', '9.3'])
  })

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

  it('writes nothing for the same budget, and repairs one whose counts are wrong, with both in the audit log', async () => {
    const { tenantId } = await spendingTenant()
    await set(tenantId, '10/month')
    expect(await set(tenantId, '10/month')).toMatchObject({ isChanged: false })
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: tableKeys.balance(tenantId),
        UpdateExpression:
          'SET budgetSpent = :drift, budgetLeft = budgetLeft - :drift, budgetFree = budgetFree - :drift',
        ExpressionAttributeValues: { ':drift': 12_345 },
      }),
    )
    expect(await set(tenantId, '10/month')).toMatchObject({ isChanged: true })
    expect(await tenantBudgetOf(table, tenantId)).toEqual(['2026-11', '0.7', '0.7', '8.6', '9.3'])
    const { entries } = await readAudit(table, { limit: 1, targets: [tenantId] })
    expect(entries).toMatchObject([
      { before: { budget: '10/month', spent: '0.012345' }, after: { budget: '10/month', spent: '0.7' } },
    ])
  })

  it('is exact while requests are reserved, settled and granted at the same time', async () => {
    const tenant = await openTenant(table, '1000')
    const { tenantId } = tenant
    const traffic = Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        await settledJob(table, tenant, { bill: `0.${index + 1}`, createdAt: EVE })
        await grantTenant(table, tenantId, { credits: parseCredits('1'), actor: TESTER })
      }),
    )
    await set(tenantId, '500/month')
    await traffic
    const balance = await table.readItem(tableKeys.balance(tenantId))
    const [id, spent, held] = (await tenantBudgetOf(table, tenantId)) ?? []
    expect([id, held]).toEqual(['2026-11', '0'])
    expect(parseCredits(spent ?? '')).toBe(microcredits(Number(balance?.spent)))
    expect(await set(tenantId, '500/month')).toMatchObject({ isChanged: false })
  })

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

const STORED: Budget = {
  amount: microcredits(100),
  period: { kind: 'day', id: '2026-11-30' },
  spent: microcredits(30),
  held: microcredits(20),
  left: microcredits(50),
  free: microcredits(80),
}
const READ = { available: 500, held: 20, spent: 480, granted: 1_000, state: 'active', openJobs: 0 }
const PERIOD = { kind: 'month', id: '2026-11' } as const
const BEGINNING = {
  limit: { amount: microcredits(200), kind: 'month' },
  period: PERIOD,
  snapshot: { read: READ, sum: microcredits(80), isExact: true },
} as const

describe('beginBudget', () => {
  it('follows from the balance at the moment of the write, by what was spent before the period', () => {
    const { UpdateExpression, ExpressionAttributeValues } = beginBudget('acme', { ...BEGINNING, stored: undefined })
    expect(UpdateExpression).toContain(
      'budgetSpent = spent - :before, budgetLeft = available + :beyond, budgetFree = :amount - held',
    )
    // 480 were spent ever, 80 of them in the period: 500 + (200 + 400 - 1000) = 200 - 80 - 20.
    expect(ExpressionAttributeValues).toMatchObject({ ':before': 400n, ':beyond': -400n, ':granted': 1_000n })
  })

  it('is refused after a grant, and where a budget was set meanwhile', () => {
    expect(beginBudget('acme', { ...BEGINNING, stored: undefined }).ConditionExpression).toBe(
      'granted = :granted AND attribute_exists(PK) AND attribute_not_exists(budgetPeriodId)',
    )
  })

  it('is refused near the end of a period after any settlement, which may count in the next one', () => {
    const { ConditionExpression, ExpressionAttributeValues } = beginBudget('acme', {
      ...BEGINNING,
      stored: undefined,
      isAtBoundary: true,
    })
    expect(ConditionExpression).toMatch(/ AND spent = :spent$/)
    expect(ExpressionAttributeValues).toMatchObject({ ':spent': 480n })
  })

  it('is refused where the budget is no longer the one that was read, or has begun another period', () => {
    const { ConditionExpression, ExpressionAttributeValues } = beginBudget('acme', { ...BEGINNING, stored: STORED })
    expect(ConditionExpression).toContain('budgetAmount = :wasAmount AND budgetPeriod = :wasKind')
    expect(ConditionExpression).toContain('budgetPeriodId = :wasPeriod')
    expect(ExpressionAttributeValues).toMatchObject({
      ':wasAmount': 100n,
      ':wasKind': 'day',
      ':wasPeriod': '2026-11-30',
    })
  })
})

describe('changeBudgetAmount', () => {
  it('moves what is left and what is free by the difference', () => {
    expect(changeBudgetAmount('acme', { stored: STORED, amount: microcredits(40) })).toMatchObject({
      UpdateExpression: 'SET budgetAmount = :amount, budgetLeft = budgetLeft + :more, budgetFree = budgetFree + :more',
      ExpressionAttributeValues: { ':amount': 40n, ':more': -60n },
    })
  })
})

describe('clearBudget', () => {
  it('leaves the balance in the index', () => {
    expect(clearBudget('acme', STORED).UpdateExpression).toBe(
      'REMOVE budgetAmount, budgetPeriod, budgetPeriodId, budgetSpent, budgetLeft, budgetFree',
    )
  })
})
