import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { parseCredits } from '#core/money.ts'
import { checkKeyBudgets, checkTenantBudget } from '#lambdas/admin/ledger-invariants.ts'
import { verifyLedger } from '#lambdas/admin/verify-ledger.ts'
import { leaveKeyBudget } from '#store/key-budgets.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import type { RelayReservation } from '#store/relay-ledger/relay-reservation.ts'
import { type TableKey, tableKeys } from '#store/table/table-keys.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { readPartition } from '../engines/audit.ts'
import { storeKeyBudget, storeTenantBudget } from '../engines/budgets.ts'
import type { TableWithClient } from '../engines/test-table.ts'
import { useOpened } from '../engines/use-opened.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { openTenant, reserveJob, settledJob } from '../engines/video-jobs.ts'
import {
  openRelayingTenant,
  RELEASE,
  type RelayingTenant,
  settle,
  startRelayTable,
} from '../store/relay-ledger/relaying-tenant.ts'

describe('verifying the ledger', () => {
  const engine = useOpened(startRelayTable)
  let table: TableWithClient
  let tenant: RelayingTenant
  let ledger: RelayLedger
  beforeEach(async () => {
    const { table: fresh, lean } = await engine.fresh()
    table = fresh
    ledger = new RelayLedger(lean)
    tenant = await openRelayingTenant(table, '100')
  })

  /** Without those of usage counters, which differ too where a settlement is changed (verify-counters.test.ts). */
  const findings = async () =>
    (await verifyLedger(table)).flatMap(({ message }) => (message.startsWith('the usage counter ') ? [] : [message]))

  async function relay(resolution: Parameters<RelayLedger['resolve']>[1] | undefined): Promise<RelayReservation> {
    const request = tenant.request('1')
    await ledger.reserve(request)
    if (resolution !== undefined) {
      await ledger.resolve(request, resolution)
    }
    return request
  }

  const rowKey = ({ requestId }: RelayReservation) => tableKeys.ledgerResolution(tenant.tenantId, requestId)

  /** The one hold of the process of these tests. */
  async function theHold(): Promise<TableKey> {
    const [{ PK, SK } = {}] = await readPartition(table, `T#${tenant.tenantId}`)
    return { PK: String(PK), SK: String(SK) }
  }

  async function change(Key: TableKey, member: string, value: unknown): Promise<void> {
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key,
        ...(value === undefined
          ? { UpdateExpression: 'REMOVE #m' }
          : { UpdateExpression: 'SET #m = :value', ExpressionAttributeValues: { ':value': value } }),
        ExpressionAttributeNames: { '#m': member },
      }),
    )
  }

  const remove = (Key: TableKey) => table.client.send(new DeleteCommand({ TableName: table.name, Key }))

  it('finds nothing where requests are open, settled, billed at the estimate, released, and jobs run', async () => {
    await Promise.all([relay(undefined), relay(settle('0.5')), relay(settle('1.5', true)), relay(RELEASE)])
    await reserveJob(table, tenant)
    expect(await verifyLedger(table)).toEqual([])
  })

  it('misses an open reservation that is gone', async () => {
    await relay(undefined)
    await remove(await theHold())
    expect(await findings()).toEqual(['held is 1 and the sum of open reservations is 0'])
  })

  it('misses a settlement that is gone', async () => {
    await remove(rowKey(await relay(settle('0.5'))))
    expect(await findings()).toEqual(['spent is 0.5 and the sum of settlements is 0'])
  })

  it('finds a request that is open and resolved', async () => {
    const request = await relay(RELEASE)
    const { model, operation, keyId, reservedAt } = request
    const open = [{ id: request.requestId, amount: 0, at: reservedAt, model, operation, keyId }]
    await change(await theHold(), 'open', open)
    await change(await theHold(), 'requests', 1)
    expect(await findings()).toEqual([
      `request ${request.requestId} has a resolution row in the ledger and its reservation is open`,
    ])
  })

  it('finds an open request with an amount below nothing', async () => {
    const { requestId, model, operation, keyId, reservedAt } = await relay(undefined)
    await change(await theHold(), 'open', [{ id: requestId, amount: -1, at: reservedAt, model, operation, keyId }])
    expect(await findings()).toContain(`request ${requestId} has a negative amount`)
  })

  it.each([
    ['amount', 0, ['held is 1 and the sum of open reservations is 0']],
    ['requests', 0, []],
  ])('finds a hold that does not add up with the requests that it names: %s is %i', async (name, value, more) => {
    await relay(undefined)
    const hold = await theHold()
    await change(hold, name, value)
    const message = `hold ${hold.SK.slice('PROC#'.length)} does not add up with the requests that it names`
    expect(await findings()).toEqual([...more, message])
  })

  it.each([
    ['a settlement without an amount', settle('0'), 'actual', undefined, 'has a settle row without an actual amount'],
    ['a release with an amount', RELEASE, 'actual', 1, 'has a release row with an actual amount'],
    ['a negative amount', RELEASE, 'amount', -1, 'has a negative amount'],
    ['a resolution before its reservation', RELEASE, 'at', 1, 'was resolved before it was reserved'],
  ])('finds %s', async (_, resolution, member, value, message) => {
    const request = await relay(resolution)
    await change(rowKey(request), member, value)
    expect(await findings()).toEqual([`request ${request.requestId} ${message}`])
  })

  it.each(['gift', 'reserve'])(
    'finds a row that says %s, which is none of ours, and looks at everything else',
    async (kind) => {
      const request = await relay(settle('0.5'))
      await change(rowKey(request), 'kind', kind)
      expect(await findings()).toEqual([
        'spent is 0.5 and the sum of settlements is 0',
        `the row ${request.requestId}#2 of its ledger is malformed`,
      ])
    },
  )
})

describe('verify budgets', () => {
  const engine = useTestTable()
  let table: TableWithClient
  beforeAll(async () => {
    table = engine.table
  })

  const BEGUN = { credits: '5', kind: 'total', atMilliseconds: 0 } as const

  describe('checkKeyBudgets', () => {
    const check = (id: string, { video = '0', relay = '0' } = {}) =>
      checkKeyBudgets(table, 'acme', {
        named: new Map([[id, new Set(['k1'])]]),
        reservations: [{ amount: parseCredits(video), budget: { id, kind: 'total' } }],
        holds: [{ budgets: { [id]: parseCredits(relay) } }],
      })

    it('finds a budget that holds what open jobs and requests hold in it in order', async () => {
      const { id } = await storeKeyBudget(table, uuidv7(), BEGUN)
      expect(await check(id)).toEqual([])
    })

    it('finds a held amount that no reservation explains', async () => {
      const { id } = await storeKeyBudget(table, uuidv7(), BEGUN)
      expect(await check(id, { video: '0.7', relay: '0.1' })).toEqual([
        `budget ${id} (of key k1) holds 0 and open reservations in it is 0.8`,
      ])
    })

    it('finds sums that are not those of the amounts', async () => {
      const id = uuidv7()
      const amounts = { amount: 10, spent: 3, held: 0, left: 8, free: 9 }
      const Item = { ...tableKeys.keyBudget(id), ...amounts, period: 'total', periodId: 'total' }
      await table.client.send(new PutCommand({ TableName: table.name, Item }))
      expect(await check(id)).toEqual([
        `budget ${id} (of key k1) has left 0.000008 and amount - spent - held is 0.000007`,
        `budget ${id} (of key k1) has free 0.000009 and amount - held is 0.00001`,
        `budget ${id} (of key k1) has spent 0.000003 and the sum of its usage counters is 0`,
      ])
    })

    it('finds a budget that is missing', async () => {
      expect(await check('gone')).toEqual(['budget gone (of key k1) is missing'])
    })
  })

  describe('checkTenantBudget', () => {
    it('is in order without a budget', async () => {
      expect(await checkTenantBudget(table, { id: 'acme', budget: null })).toEqual([])
    })
  })

  describe('verify-budgets: what a budget has spent', () => {
    const NOW = Date.UTC(2026, 10, 22)
    const DAY = { credits: '5', kind: 'day', atMilliseconds: NOW } as const

    /** A tenant whose key has settled 0.5 credits, and a budget of the key that says otherwise. */
    async function settledTenant(changedAt?: number) {
      const tenant = await openTenant(table)
      const keyId = tenant.keyDigest.slice(0, 8)
      await settledJob(table, tenant, { keyId, createdAt: NOW / 1000, bill: '0.5' })
      const { id } = await storeKeyBudget(table, uuidv7(), { ...DAY, spent: '0.4' })
      if (changedAt !== undefined) {
        await table.transact({ left: leaveKeyBudget(id, changedAt) })
      }
      const named = new Map([[id, new Set([keyId])]])
      return {
        tenant,
        id,
        check: () => checkKeyBudgets(table, tenant.tenantId, { named, reservations: [], holds: [] }),
      }
    }

    it('is what the usage counters of its keys say, in its period', async () => {
      const { tenant, id, check } = await settledTenant()
      expect(await check()).toEqual([
        `budget ${id} (of key ${tenant.keyDigest.slice(0, 8)}) has spent 0.4 and the sum of its usage counters is 0.5`,
      ])
    })

    it('is not compared while requests may count that were open when the budget began, or when a key left it', async () => {
      const HOUR = 3_600_000
      expect(await (await settledTenant(NOW - HOUR)).check()).toEqual([])
      expect(await (await settledTenant(NOW - 49 * HOUR)).check()).toHaveLength(1)
    })

    it('is what all counters of a tenant say', async () => {
      const { tenant } = await settledTenant()
      await storeTenantBudget(table, tenant.tenantId, { ...DAY, spent: '0.4' })
      const stored = await getTenant(table, tenant.tenantId)
      expect(await checkTenantBudget(table, stored)).toEqual([
        'its budget has spent 0.4 and the sum of its usage counters is 0.5',
      ])
      await storeTenantBudget(table, tenant.tenantId, { ...DAY, spent: '0.5' })
      expect(await checkTenantBudget(table, await getTenant(table, tenant.tenantId))).toEqual([])
    })
  })

  describe('verify-budgets: ledger verify', () => {
    it('reports budgets of a tenant and of its keys that do not match what is held', async () => {
      const tenant = await openTenant(table)
      const budget = await storeKeyBudget(table, uuidv7(), BEGUN)
      await reserveJob(table, tenant, { budget })
      expect(await verifyLedger(table, tenant.tenantId)).toEqual([])
      // Stored without the hold, as after a rollback.
      await storeTenantBudget(table, tenant.tenantId, BEGUN)
      await storeKeyBudget(table, budget.id, BEGUN)
      expect((await verifyLedger(table, tenant.tenantId)).map(({ message }) => message)).toEqual([
        'its budget has left 5 and amount - spent - held is 4.3',
        'its budget has free 5 and amount - held is 4.3',
        `budget ${budget.id} holds 0 and open reservations in it is 0.7`,
      ])
    })
  })
})
