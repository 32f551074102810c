import { beforeEach, describe, expect, it } from 'vitest'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import { setApiKey } from '#adapters/store/accounts/key-settings.ts'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import { ConditionsNotMetError } from '#adapters/store/table/conditions-not-met-error.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { auditTenant } from '../../../engines/audit.ts'
import { TESTER } from '../../../engines/tester.ts'
import { useOpened } from '../../../engines/use-opened.ts'
import { countOf, openRelayingTenant, outcome, type RelayingTenant, settle } from '../accounts/relaying-tenant.ts'
import { startRelayTable } from './relay-table.ts'

const engine = useOpened(startRelayTable)
let table: Table
let lean: Table
let ledger: RelayLedger
beforeEach(async () => {
  ;({ table, lean } = await engine.fresh())
  ledger = new RelayLedger(lean)
})

const reserveAll = (requests: readonly ReturnType<RelayingTenant['request']>[]) =>
  Promise.all(requests.map((request) => outcome(ledger.reserve(request))))
const inOrder = async (tenant: RelayingTenant) => expect(await auditTenant(table, tenant.tenantId)).toEqual([])

describe('reservations at the same time', () => {
  it('go together: one transaction, one move of the balance and of the hold, one check for each key', async () => {
    const tenant = await openRelayingTenant(table)
    const other = await tenant.anotherKey()
    const requests = [tenant.request('1'), tenant.request('2'), tenant.request('3', other)]
    expect(await reserveAll(requests)).toEqual(['done', 'done', 'done'])
    expect(engine.transactions.map(({ kinds }) => kinds.join())).toEqual([
      'Update,Update,ConditionCheck,ConditionCheck',
    ])
    expect(await tenant.balance()).toEqual(['94', '6', '0'])
  })

  it('are let through up to the funds and not one more', async () => {
    const tenant = await openRelayingTenant(table, '7')
    const outcomes = await reserveAll(Array.from({ length: 50 }, () => tenant.request('0.7')))
    expect(countOf(outcomes, 'done')).toBe(10)
    expect(countOf(outcomes, 'InsufficientQuotaError')).toBe(40)
    // The balance that refused the first says who may pay; nobody is tried one by one.
    expect(engine.transactions).toHaveLength(3)
    expect(await tenant.balance()).toEqual(['0', '7', '0'])
    await inOrder(tenant)
  })

  it('are let through up to the funds also where the table does not say what the balance was', async () => {
    const tenant = await openRelayingTenant(table, '7')
    const silent: Table = {
      ...lean,
      transact: (writes) =>
        lean.transact(writes).catch((error: unknown) => {
          throw error instanceof ConditionsNotMetError ? new ConditionsNotMetError(error.failed) : error
        }),
    }
    ledger = new RelayLedger(silent)
    const outcomes = await reserveAll(Array.from({ length: 20 }, () => tenant.request('0.7')))
    expect(outcomes).toEqual([...Array(10).fill('done'), ...Array(10).fill('InsufficientQuotaError')])
    await inOrder(tenant)
  })

  it('of several processes are let through up to the funds and not one more', async () => {
    const tenant = await openRelayingTenant(table, '7')
    const ledgers = Array.from({ length: 5 }, () => new RelayLedger(lean))
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) => outcome((ledgers[index % 5] ?? ledger).reserve(tenant.request('0.7')))),
    )
    expect(countOf(outcomes, 'done')).toBe(10)
    await inOrder(tenant)
  })

  it('are refused by what each of them costs: who can pay is not refused for one who cannot', async () => {
    const tenant = await openRelayingTenant(table, '10')
    const amounts = ['4', '11', '4', '100', '2', '0.000001']
    expect(await reserveAll(amounts.map((amount) => tenant.request(amount)))).toEqual([
      'done',
      'InsufficientQuotaError',
      'done',
      'InsufficientQuotaError',
      'done',
      'InsufficientQuotaError',
    ])
    expect(await tenant.balance()).toEqual(['0', '10', '0'])
  })

  it('of a revoked key fail alone, with their own error', async () => {
    const tenant = await openRelayingTenant(table)
    const revoked = await tenant.anotherKey()
    await revokeApiKey(table, revoked.keyId, TESTER)
    const requests = [tenant.request('1'), tenant.request('1', revoked), tenant.request('200'), tenant.request('1')]
    expect(await reserveAll(requests)).toEqual(['done', 'InvalidApiKeyError', 'InsufficientQuotaError', 'done'])
    expect(await tenant.balance()).toEqual(['98', '2', '0'])
  })

  it('that read different revisions of a key are judged apart: only the older ones are refused', async () => {
    const tenant = await openRelayingTenant(table)
    const keyId = tenant.keyDigest.slice(0, 8)
    const actor = { name: 'alice', role: 'operator' } as const
    await setApiKey(table, { keyId, settings: { name: 'New' }, actor })
    const changed = { keyRevision: 1 }
    const requests = [
      tenant.request('1'),
      tenant.request('1', changed),
      tenant.request('1'),
      tenant.request('1', changed),
    ]
    expect(await reserveAll(requests)).toEqual(['InvalidApiKeyError', 'done', 'InvalidApiKeyError', 'done'])
    expect(await tenant.balance()).toEqual(['98', '2', '0'])
  })

  it('that are more than a transaction takes go in several, in the order in which they came', async () => {
    const tenant = await openRelayingTenant(table)
    const order: number[] = []
    const reserved = Array.from({ length: 200 }, async (_, index) => {
      await ledger.reserve(tenant.request('0.1'))
      order.push(index)
    })
    await Promise.all(reserved)
    expect(order).toEqual(order.toSorted((left, right) => left - right))
    expect(engine.transactions).toHaveLength(3)
    await inOrder(tenant)
  })

  it('of one tenant never meet in two transactions of one process', async () => {
    const tenant = await openRelayingTenant(table)
    let underWay = 0
    let most = 0
    const counting: Table = {
      ...lean,
      transact: async (writes) => {
        underWay += 1
        most = Math.max(most, underWay)
        await lean.transact(writes)
        underWay -= 1
      },
    }
    ledger = new RelayLedger(counting)
    const lives = Array.from({ length: 30 }, async (_, index) => {
      for (let turn = 0; turn < index; turn += 1) {
        await new Promise(setImmediate)
      }
      const request = tenant.request('0.1')
      await ledger.reserve(request)
      await ledger.resolve(request, settle('0.05'))
    })
    await Promise.all(lives)
    expect(most).toBe(1)
    expect(await tenant.balance()).toEqual(['98.5', '0', '1.5'])
  })

  it('that one member spoils are written without it', async () => {
    const tenant = await openRelayingTenant(table)
    const spoiled = tenant.request('1', { keyDigest: 'x'.repeat(5_000) })
    const outcomes = await reserveAll([tenant.request('1'), spoiled, tenant.request('1'), tenant.request('1')])
    expect(outcomes).toEqual(['done', 'TransactionCanceledException', 'done', 'done'])
    expect(await tenant.balance()).toEqual(['97', '3', '0'])
  })
})
