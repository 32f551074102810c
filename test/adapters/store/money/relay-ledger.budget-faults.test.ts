import { v7 as uuidv7 } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import { reserveQuota } from '#adapters/store/money/reserve-quota.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { verifyLedger } from '#lambdas/admin/ledger/verify-ledger.ts'
import { keyBudgetOf, storeKeyBudget, storeTenantBudget, tenantBudgetOf } from '../../../engines/budgets.ts'
import { captureTelemetry } from '../../../engines/counted-facts.ts'
import { seededRandom } from '../../../engines/seeded-random.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { useOpened } from '../../../engines/use-opened.ts'
import { newJob } from '../../../engines/video-jobs.ts'
import {
  countOf,
  openRelayingTenant,
  outcome,
  RELEASE,
  type RelayingTenant,
  settle,
} from '../accounts/relaying-tenant.ts'
import { startRelayTable } from './relay-table.ts'

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

describe('relay-ledger: a reservation that is repeated under one token', () => {
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

describe('relay-ledger: a race of 64 requests while calls and replies are lost', () => {
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
    120_000,
  )
})
