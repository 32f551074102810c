import { beforeEach, describe, expect, it } from 'vitest'
import { readHoldItem, type StoredHold } from '#adapters/store/money/hold-item.ts'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import { releaseHold } from '#adapters/store/money/release-hold.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { auditTenant, readPartition } from '../../../engines/audit.ts'
import { keyBudgetOf, storeKeyBudget } from '../../../engines/budgets.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { openRelayingTenant, type RelayingTenant, settle } from '../accounts/relaying-tenant.ts'

const engine = useTestTable()
let table: TableWithClient
let tenant: RelayingTenant
let ledger: RelayLedger
beforeEach(async () => {
  table = await engine.fresh()
  tenant = await openRelayingTenant(table, '10')
  ledger = new RelayLedger(table)
})

async function open(...amounts: readonly string[]) {
  const requests = amounts.map((credits) => tenant.request(credits))
  await Promise.all(requests.map((request) => ledger.reserve(request)))
  return requests
}

async function theHold(): Promise<StoredHold> {
  const [item = {}] = await readPartition(table, `T#${tenant.tenantId}`)
  return readHoldItem(item)
}

const rows = async () => (await readPartition(table, `L#${tenant.tenantId}`)).filter(({ kind }) => kind !== 'grant')
const holds = () => readPartition(table, `T#${tenant.tenantId}`)

/** The table of a run that ends after so many transactions. */
function endsAfter(transactions: number): Table {
  let sent = 0
  return {
    ...table,
    transact: async (writes) => {
      sent += 1
      if (sent > transactions) {
        throw new Error('the run has ended')
      }
      await table.transact(writes)
    },
  }
}

describe('the release of a hold', () => {
  it('gives everything back at once, with a row for each request that says what it was for', async () => {
    const [first, second] = await open('1', '2')
    expect(await releaseHold(table, await theHold(), 5)).toBe(true)
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
    expect(await holds()).toEqual([])
    const released = (await rows()).toSorted((left, right) => Number(left.amount) - Number(right.amount))
    expect(released).toEqual(
      [first, second].map((request) => ({
        ...tableKeys.ledgerResolution(tenant.tenantId, request?.requestId ?? ''),
        kind: 'release',
        job: request?.requestId,
        amount: Number(request?.amount),
        at: 5,
        reservedAt: request?.reservedAt,
        model: 'chat-default',
        operation: 'create-chat-completion',
        keyId: request?.keyId,
      })),
    )
    expect(await auditTenant(table, tenant.tenantId)).toEqual([])
  })

  it('writes one row for all requests that the hold does not name', async () => {
    await open(...Array.from({ length: 40 }, () => '0.1'))
    const hold = await theHold()
    await releaseHold(table, hold, 5)
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
    const unnamed = 40 - hold.open.length
    expect(await rows()).toHaveLength(hold.open.length + 1)
    expect((await rows()).find(({ job }) => job === hold.holdId)).toMatchObject({
      kind: 'release',
      amount: unnamed * 100_000,
      requests: unnamed,
      at: 5,
      reservedAt: hold.renewedAt,
    })
  })

  it('does nothing to a hold that its process wrote meanwhile, or that is gone', async () => {
    await open('1')
    const hold = await theHold()
    const [later] = await open('2')
    expect(await releaseHold(table, hold, 5)).toBe(false)
    expect(await tenant.balance()).toEqual(['7', '3', '0'])
    expect(await releaseHold(table, await theHold(), 5)).toBe(true)
    expect(await releaseHold(table, hold, 6)).toBe(false)
    expect(await rows()).toHaveLength(2)
    expect(later).toBeDefined()
  })

  it('of a hold without requests deletes it, and moves no money', async () => {
    const [request] = await open('1')
    await ledger.resolve(request ?? tenant.request('1'), settle('0.5'))
    const before = await rows()
    expect(await releaseHold(table, await theHold(), 5)).toBe(true)
    expect(await holds()).toEqual([])
    expect(await rows()).toEqual(before)
    expect(await tenant.balance()).toEqual(['9.5', '0', '0.5'])
  })

  it('counts a request among the rest that has a row already', async () => {
    const [first] = await open('1', '2')
    const Item = { ...tableKeys.ledgerResolution(tenant.tenantId, first?.requestId ?? ''), kind: 'release' }
    await table.transact({ row: { Put: { Item } } })
    const hold = await theHold()
    expect(await releaseHold(table, hold, 5)).toBe(true)
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
    expect((await rows()).find(({ job }) => job === hold.holdId)).toMatchObject({ amount: 1_000_000, requests: 1 })
  })

  it('of more budgets than go into two transactions gives each back once, though two runs go on from the same one', async () => {
    const budgets = await Promise.all(
      Array.from({ length: 170 }, (_, index) =>
        storeKeyBudget(table, `b${index}`, { credits: '3', kind: 'total', atMilliseconds: 0 }),
      ),
    )
    await Promise.all(budgets.map((budget) => ledger.reserve(tenant.request('0.01', { budget }))))
    await expect(releaseHold(endsAfter(1), await theHold(), 5)).rejects.toThrow('the run has ended')
    const continued = await theHold()
    await expect(releaseHold(endsAfter(1), continued, 5)).rejects.toThrow('the run has ended')
    expect(await releaseHold(table, continued, 5)).toBe(false)
    expect(await releaseHold(table, await theHold(), 5)).toBe(true)
    for (const { id } of budgets) {
      expect(await keyBudgetOf(table, id)).toEqual(['total', '0', '0', '3', '3'])
    }
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
  })

  it('of more than the balance holds is an error, and the hold stays', async () => {
    await open('3')
    await table.updateItem({
      Key: tableKeys.balance(tenant.tenantId),
      UpdateExpression: 'SET held = :less',
      ExpressionAttributeValues: { ':less': 1 },
    })
    await expect(releaseHold(table, await theHold(), 5)).rejects.toMatchObject({ failed: new Set(['balance']) })
    expect(await holds()).toHaveLength(1)
  })
})
