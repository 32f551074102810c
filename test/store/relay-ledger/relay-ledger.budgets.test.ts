import { beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { verifyLedger } from '#lambdas/admin/verify-ledger.ts'
import { reserveQuota } from '#store/job-ledger/reserve-quota.ts'
import { readHoldItem } from '#store/relay-ledger/hold.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import { releaseHold } from '#store/relay-ledger/release-hold.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { auditTenant, readPartition } from '../../engines/audit.ts'
import {
  clearTenantBudget,
  keyBudgetOf,
  storeKeyBudget,
  storeTenantBudget,
  tenantBudgetOf,
} from '../../engines/budgets.ts'
import { captureTelemetry } from '../../engines/emitted-metrics.ts'
import { seededRandom } from '../../engines/seeded-random.ts'
import type { TableWithClient } from '../../engines/test-table.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { newJob } from '../../engines/video-jobs.ts'
import {
  countOf,
  openRelayingTenant,
  outcome,
  RELEASE,
  type RelayingTenant,
  settle,
  startRelayTable,
} from './relaying-tenant.ts'

describe('RelayLedger with budgets:', () => {
  captureTelemetry()
  const EVE = Date.UTC(2026, 10, 30, 23, 59, 59)
  const DAY_MILLISECONDS = 86_400_000
  const DAY = { kind: 'day', atMilliseconds: EVE } as const

  const engine = useOpened(startRelayTable)
  let table: TableWithClient
  let tenant: RelayingTenant
  let now: number
  beforeEach(async () => {
    const { table: fresh } = await engine.fresh()
    table = fresh
    now = EVE
    tenant = await openRelayingTenant(table, '1000')
  })

  const clock = {
    nowMilliseconds: () => now,
    pause: async () => {
      await new Promise(setImmediate)
    },
  }
  const openLedger = () => new RelayLedger(table, { clock })
  const request = (credits: string, budget?: { readonly id: string; readonly kind: 'day' | 'month' | 'total' }) =>
    tenant.request(credits, { budget, reservedAt: now })
  const inOrder = async () => expect(await auditTenant(table, tenant.tenantId)).toEqual([])

  /** So many requests at once, over so many processes. */
  async function race(
    count: number,
    { processes = 1, budget }: { processes?: number; budget?: Parameters<typeof request>[1] } = {},
  ) {
    const ledgers = Array.from({ length: processes }, openLedger)
    const requests = Array.from({ length: count }, (_, index) => ({
      reservation: request('1', budget),
      ledger: ledgers[index % processes] ?? openLedger(),
    }))
    const outcomes = await Promise.all(requests.map(({ ledger, reservation }) => outcome(ledger.reserve(reservation))))
    return { outcomes, passed: requests.filter((_, index) => outcomes[index] === 'done') }
  }

  describe('the budget of a key', () => {
    it('lets exactly as many of many parallel requests through as it has room for', async () => {
      const budget = await storeKeyBudget(table, 'b', { credits: '64.5', ...DAY })
      const { outcomes } = await race(100, { budget })
      expect([countOf(outcomes, 'done'), countOf(outcomes, 'BudgetExceededError')]).toEqual([64, 36])
      expect(await keyBudgetOf(table, 'b')).toEqual(['2026-11-30', '0', '64', '0.5', '0.5'])
      await inOrder()
    })

    it('lets exactly as many through that come to several processes at once', async () => {
      const budget = await storeKeyBudget(table, 'b', { credits: '20', ...DAY })
      const { outcomes } = await race(64, { budget, processes: 4 })
      expect([countOf(outcomes, 'done'), countOf(outcomes, 'BudgetExceededError')]).toEqual([20, 44])
      await inOrder()
    })

    it('begins anew with its period, in which only what is held stays counted', async () => {
      const budget = await storeKeyBudget(table, 'b', { credits: '10', ...DAY })
      const first = await race(12, { budget })
      expect(countOf(first.outcomes, 'done')).toBe(10)
      await Promise.all(
        first.passed.slice(0, 4).map(({ ledger, reservation }) => ledger.resolve(reservation, settle('1'))),
      )
      expect(await keyBudgetOf(table, 'b')).toEqual(['2026-11-30', '4', '6', '0', '4'])
      now += 1_000
      const second = await race(12, { budget, processes: 3 })
      expect(countOf(second.outcomes, 'done')).toBe(4)
      expect(await keyBudgetOf(table, 'b')).toEqual(['2026-12-01', '0', '10', '0', '0'])
      await Promise.all(
        first.passed.slice(4).map(({ ledger, reservation }) => ledger.resolve(reservation, settle('0.5'))),
      )
      expect(await keyBudgetOf(table, 'b')).toEqual(['2026-12-01', '3', '4', '3', '6'])
      await inOrder()
    })

    it('refuses each request by its own amount, with what was needed and what is left, and lets others of its group through', async () => {
      const budget = await storeKeyBudget(table, 'b', { credits: '3', ...DAY })
      const ledger = openLedger()
      const refused = request('4', budget)
      const outcomes = await Promise.allSettled([
        ledger.reserve(request('2', budget)),
        ledger.reserve(refused),
        ledger.reserve(request('2')),
        ledger.reserve(request('1', budget)),
      ])
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
      expect(outcomes[1]).toMatchObject({
        reason: {
          name: 'BudgetExceededError',
          shortfall: { of: 'api key', needed: 4_000_000n, left: 3_000_000n, period: { kind: 'day', id: '2026-11-30' } },
        },
      })
    })

    it('has what comes back in the same moment', async () => {
      const budget = await storeKeyBudget(table, 'b', { credits: '3', ...DAY })
      const ledger = openLedger()
      const first = request('3', budget)
      await ledger.reserve(first)
      const [resolved, reserved] = await Promise.all([
        ledger.resolve(first, settle('1')),
        outcome(ledger.reserve(request('2', budget))),
      ])
      expect([resolved, reserved]).toEqual(['resolved', 'done'])
      expect(await keyBudgetOf(table, 'b')).toEqual(['2026-11-30', '1', '2', '0', '1'])
    })

    it('of another kind than the key says, or with a period later than the clock, is found at the first refusal', async () => {
      await storeKeyBudget(table, 'b', { credits: '3', kind: 'month', atMilliseconds: EVE + 1_000 })
      const ledger = openLedger()
      await ledger.reserve(request('2', { id: 'b', kind: 'day' }))
      expect(await keyBudgetOf(table, 'b')).toEqual(['2026-12', '0', '2', '1', '1'])
      await expect(ledger.reserve(request('2', { id: 'b', kind: 'day' }))).rejects.toMatchObject({
        name: 'BudgetExceededError',
      })
    })

    it('that is gone from the table lets nobody through, and settlements still pass', async () => {
      const budget = await storeKeyBudget(table, 'b', { credits: '3', ...DAY })
      const ledger = openLedger()
      const open = request('1', budget)
      await ledger.reserve(open)
      await table.transact({ gone: { Delete: { Key: tableKeys.keyBudget('b') } } })
      expect(await outcome(ledger.reserve(request('1', budget)))).toBe('BudgetExceededError')
      expect(await ledger.resolve(open, settle('1'))).toBe('resolved')
      await storeKeyBudget(table, 'b', { credits: '3', ...DAY })
      expect(await outcome(ledger.reserve(request('1', budget)))).toBe('done')
      await inOrder()
    })

    it('gets back what a hold held when it is released, of more budgets than go into one transaction', async () => {
      const budgets = await Promise.all(
        Array.from({ length: 200 }, (_, index) => storeKeyBudget(table, `b${index}`, { credits: '3', ...DAY })),
      )
      const ledger = openLedger()
      const requests = budgets.map((budget) => request('1', budget))
      await Promise.all(requests.map((each) => ledger.reserve(each)))
      now += DAY_MILLISECONDS
      const [item = {}] = (await readPartition(table, `T#${tenant.tenantId}`)).filter(({ SK }) =>
        String(SK).startsWith('PROC#'),
      )
      expect(await releaseHold(table, readHoldItem(item), now)).toBe(true)
      for (const { id } of budgets) {
        expect(await keyBudgetOf(table, id)).toEqual(['2026-12-01', '0', '0', '3', '3'])
      }
      expect(await tenant.balance()).toEqual(['1000', '0', '0'])
      const [first = request('1')] = requests
      expect(await ledger.resolve(first, settle('1'))).toBe('already_resolved')
      await inOrder()
    })
  })

  describe('a process whose clock is behind', () => {
    it('settles on the day of the period that another one has begun, in the ledger and in counters too', async () => {
      await storeTenantBudget(table, tenant.tenantId, { credits: '5', ...DAY })
      const budget = await storeKeyBudget(table, 'b', { credits: '5', ...DAY })
      const slow = openLedger()
      const open = request('1', budget)
      await slow.reserve(open)
      now += 1_000
      await openLedger().reserve(request('1', budget))
      now -= 1_000
      expect(await slow.resolve(open, settle('0.5'))).toBe('resolved')
      const expected = ['2026-12-01', '0.5', '1', '3.5', '4']
      expect([await keyBudgetOf(table, 'b'), await tenantBudgetOf(table, tenant.tenantId)]).toEqual([
        expected,
        expected,
      ])
      const counted = (await readPartition(table, `U#${tenant.tenantId}`)).map(({ SK }) => String(SK).slice(0, 10))
      expect(counted).toEqual(['2026-12-01'])
      await inOrder()
    })

    it.each([0, 1, 2, 3, 4, 5, 6])(
      'is refused by its budget or not at all when midnight passes after %i looks at the clock',
      async (looks) => {
        await storeTenantBudget(table, tenant.tenantId, { credits: '1', spent: '1', ...DAY })
        let calls = 0
        const nowMilliseconds = () => {
          calls += 1
          return calls > looks ? EVE + 1_000 : EVE
        }
        const ledger = new RelayLedger(table, { clock: { ...clock, nowMilliseconds } })
        expect(['done', 'BudgetExceededError']).toContain(await outcome(ledger.reserve(request('1'))))
      },
    )
  })

  describe('the budget of a tenant', () => {
    it('lets exactly as many of many parallel requests through as it has room for, in several processes', async () => {
      await storeTenantBudget(table, tenant.tenantId, { credits: '20', ...DAY })
      const { outcomes } = await race(64, { processes: 4 })
      expect([countOf(outcomes, 'done'), countOf(outcomes, 'BudgetExceededError')]).toEqual([20, 44])
      await inOrder()
    })

    it('begins anew with its period', async () => {
      await storeTenantBudget(table, tenant.tenantId, { credits: '10', ...DAY })
      const first = await race(12)
      expect(countOf(first.outcomes, 'done')).toBe(10)
      await Promise.all(first.passed.map(({ ledger, reservation }) => ledger.resolve(reservation, settle('1'))))
      expect(await outcome(openLedger().reserve(request('0.000001')))).toBe('BudgetExceededError')
      now += 1_000
      expect(countOf((await race(12, { processes: 2 })).outcomes, 'done')).toBe(10)
      expect(await tenantBudgetOf(table, tenant.tenantId)).toEqual(['2026-12-01', '0', '10', '0', '0'])
    })

    it('that is set or cleared while requests are open holds from the next transaction on', async () => {
      const ledger = openLedger()
      const open = request('1')
      await ledger.reserve(open)
      await storeTenantBudget(table, tenant.tenantId, { credits: '2', ...DAY })
      expect(await ledger.resolve(open, settle('0.5'))).toBe('resolved')
      expect((await tenantBudgetOf(table, tenant.tenantId))?.slice(0, 2)).toEqual(['2026-11-30', '0.5'])
      await clearTenantBudget(table, tenant.tenantId)
      expect(await outcome(ledger.reserve(request('900')))).toBe('done')
      await inOrder()
    })

    it('is judged after the budget of the key and before the funds', async () => {
      await storeTenantBudget(table, tenant.tenantId, { credits: '2', ...DAY })
      const budget = await storeKeyBudget(table, 'b', { credits: '1', ...DAY })
      const ledger = openLedger()
      const of = (credits: string, own?: typeof budget) =>
        ledger.reserve(request(credits, own)).then(
          () => 'done',
          (error) => error.shortfall?.of ?? error.name,
        )
      expect(await of('5000', budget)).toBe('api key')
      expect(await of('5000')).toBe('tenant')
      expect(await of('1.5', budget)).toBe('api key')
    })
  })

  describe('both budgets', () => {
    it('are given back by a release', async () => {
      await storeTenantBudget(table, tenant.tenantId, { credits: '5', ...DAY })
      const budget = await storeKeyBudget(table, 'b', { credits: '5', ...DAY })
      const ledger = openLedger()
      const open = request('3', budget)
      await ledger.reserve(open)
      expect(await ledger.resolve(open, RELEASE)).toBe('resolved')
      expect(await keyBudgetOf(table, 'b')).toEqual(['2026-11-30', '0', '0', '5', '5'])
      expect(await tenantBudgetOf(table, tenant.tenantId)).toEqual(['2026-11-30', '0', '0', '5', '5'])
    })
  })
})

describe('RelayLedger under faults:', () => {
  captureTelemetry()
  const NOW = Date.UTC(2026, 10, 22)
  const DAY = { kind: 'day', atMilliseconds: NOW } as const

  const engine = useOpened(startRelayTable)
  let table: TableWithClient
  let lean: Table
  let tenant: RelayingTenant
  beforeEach(async () => {
    ;({ table, lean } = await engine.fresh())
    tenant = await openRelayingTenant(table, '1000')
  })

  const pause = async () => {
    await new Promise(setImmediate)
  }
  const openLedger = () => new RelayLedger(lean, { clock: { nowMilliseconds: () => NOW, pause } })
  const bothBudgets = async (credits: string) => {
    await storeTenantBudget(table, tenant.tenantId, { credits, ...DAY })
    return await storeKeyBudget(table, uuidv7(), { credits, ...DAY })
  }
  const amounts = async ({ id }: { readonly id: string }) =>
    [await keyBudgetOf(table, id), await tenantBudgetOf(table, tenant.tenantId)].map((budget) => budget?.slice(1))
  const broken = async () => (await verifyLedger(table, tenant.tenantId)).map(({ message }) => message)

  describe('a reservation that is repeated under one token', () => {
    it('counts once in both budgets, of a request and of a job', async () => {
      const budget = await bothBudgets('5')
      let calls = 0
      engine.faults.fate = () => {
        calls += 1
        return calls % 3 === 0 ? 'pass' : 'lost_after'
      }
      await openLedger().reserve(tenant.request('1', { budget, reservedAt: NOW }))
      await reserveQuota(lean, newJob(tenant, { budget, createdAt: NOW / 1000 }))
      engine.faults.fate = () => 'pass'
      expect(engine.transactions.filter(({ isRepeat }) => isRepeat).length).toBeGreaterThan(1)
      expect(await amounts(budget)).toEqual([
        ['0', '1.7', '3.3', '3.3'],
        ['0', '1.7', '3.3', '3.3'],
      ])
      expect(await broken()).toEqual([])
    })
  })

  describe('a race of 64 requests while calls and replies are lost', () => {
    it.each([1, 2, 3])(
      'lets no more through than both budgets have room for, refuses nobody who had room, and settles to the last digit (%i)',
      async (seed) => {
        const budget = await bothBudgets('20')
        const random = seededRandom(seed)
        engine.faults.fate = () => (random() < 0.3 ? (random() < 0.5 ? 'lost_after' : 'lost_before') : 'pass')
        const ledgers = Array.from({ length: 4 }, openLedger)
        const requests = Array.from({ length: 64 }, (_, index) => ({
          reservation: tenant.request('1', { budget, reservedAt: NOW }),
          ledger: ledgers[index % ledgers.length] ?? openLedger(),
        }))
        const outcomes = await Promise.all(
          requests.map(({ ledger, reservation }) => outcome(ledger.reserve(reservation))),
        )
        expect([countOf(outcomes, 'done'), countOf(outcomes, 'BudgetExceededError')]).toEqual([20, 44])
        expect(await amounts(budget)).toEqual([
          ['0', '20', '0', '0'],
          ['0', '20', '0', '0'],
        ])
        const passed = requests.filter((_, index) => outcomes[index] === 'done')
        await Promise.all(
          passed.map(({ ledger, reservation }, index) =>
            ledger.resolve(reservation, index % 4 === 0 ? RELEASE : settle('0.25')),
          ),
        )
        engine.faults.fate = () => 'pass'
        const spent = '3.75'
        expect(await amounts(budget)).toEqual([
          [spent, '0', '16.25', '20'],
          [spent, '0', '16.25', '20'],
        ])
        expect(await broken()).toEqual([])
      },
    )
  })
})
