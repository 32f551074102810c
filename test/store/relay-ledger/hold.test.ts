import { beforeEach, describe, expect, it } from '@jest/globals'
import { timeOfId } from '#core/ids.ts'
import { microcredits } from '#core/money.ts'
import {
  NO_CHANGE,
  PROCESS_ID,
  RelayHold,
  readHoldItem,
  type StoredHold,
  unnamedRest,
} from '#store/relay-ledger/hold.ts'
import { RelayLedger } from '#store/relay-ledger/relay-ledger.ts'
import type { RelayReservation } from '#store/relay-ledger/relay-reservation.ts'
import { releaseHold } from '#store/relay-ledger/release-hold.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { auditTenant, readPartition } from '../../engines/audit.ts'
import { keyBudgetOf, storeKeyBudget } from '../../engines/budgets.ts'
import type { TableWithClient } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openRelayingTenant, type RelayingTenant, settle } from './relaying-tenant.ts'

describe('RelayHold:', () => {
  const engine = useTestTable()
  let table: Table
  let hold: RelayHold
  beforeEach(async () => {
    table = await engine.fresh()
    hold = new RelayHold('tenant')
  })

  const reservation = (index: number, changes: Partial<RelayReservation> = {}): RelayReservation => ({
    tenantId: 'tenant',
    requestId: `${crypto.randomUUID().slice(0, -3)}${String(index).padStart(3, '0')}`,
    model: 'chat-default',
    amount: microcredits(1_000_000 + index),
    reservedAt: 1_795_000_000_000 + index,
    keyDigest: 'digest',
    keyId: '0123456789abcdef',
    operation: 'create-chat-completion',
    ...changes,
  })

  async function write(opened: readonly RelayReservation[], closed: readonly string[] = []) {
    const tried = hold.compose({ opened, closed })
    const result = await table.updateItem(tried.update)
    if (result.isWritten) {
      hold.adopt(tried)
    }
    return result.isWritten
  }

  async function stored(): Promise<StoredHold> {
    const item = await table.readItem(tableKeys.relayHold('tenant', hold.holdId))
    return readHoldItem(item ?? {})
  }

  describe('the item of a hold', () => {
    it('is read as it was written, with amounts beyond the exact range of a double', async () => {
      const large = reservation(1, { amount: microcredits(9_007_199_254_740_993n) })
      expect(await write([large, reservation(2)])).toBe(true)
      expect(await stored()).toEqual({
        tenantId: 'tenant',
        holdId: hold.holdId,
        version: 1,
        amount: 9_007_199_255_740_995n,
        requests: 2,
        renewedAt: 1_795_000_000_002,
        budgets: {},
        open: [large, { ...reservation(2), requestId: expect.any(String) }].map((each) => ({
          id: each.requestId,
          amount: each.amount,
          at: each.reservedAt,
          model: 'chat-default',
          operation: 'create-chat-completion',
          keyId: '0123456789abcdef',
        })),
      })
    })

    it('names the oldest requests and counts all, in less than a kilobyte', async () => {
      const many = Array.from({ length: 90 }, (_, index) => reservation(index))
      await write(many)
      const { open, requests, amount, ...rest } = await stored()
      expect(open.length).toBeGreaterThanOrEqual(4)
      expect(open.map(({ id }) => id)).toEqual(many.slice(0, open.length).map(({ requestId }) => requestId))
      expect([requests, amount]).toEqual([90, many.reduce((sum, each) => sum + each.amount, 0n)])
      // JSON is longer than what the table counts: names of types and quotes are its own.
      expect(
        JSON.stringify({ ...rest, open: open.map((each) => ({ ...each, amount: String(each.amount) })) }).length,
      ).toBeLessThan(1_400)
    })

    it('has the same place in the index however often it is renewed', async () => {
      await write([reservation(1)])
      const before = await table.readItem(tableKeys.relayHold('tenant', hold.holdId))
      await write([reservation(2, { reservedAt: 1_800_000_000_000 })])
      const after = await table.readItem(tableKeys.relayHold('tenant', hold.holdId))
      expect([before?.GSI1PK, before?.GSI1SK]).toEqual(['PROC', '001795000960001'])
      expect([after?.GSI1PK, after?.GSI1SK]).toEqual(['PROC', '001795000960001'])
      expect((await stored()).renewedAt).toBe(1_800_000_000_000)
    })

    it('is written only over the write that was known', async () => {
      const [first, second] = [hold.compose(NO_CHANGE), hold.compose(NO_CHANGE)]
      expect(await table.updateItem(second.update)).toMatchObject({ isWritten: true })
      expect(await table.updateItem(first.update)).toMatchObject({ isWritten: false, item: { version: second.number } })
      hold.adopt(second)
      expect(await write([reservation(1)])).toBe(true)
      const stranger = new RelayHold('tenant').compose(NO_CHANGE)
      expect(await table.updateItem({ ...stranger.update, Key: first.update.Key })).toMatchObject({ isWritten: false })
    })
  })

  describe('unnamedRest of a hold', () => {
    it('is what its requests hold that it does not name', async () => {
      const many = Array.from({ length: 20 }, (_, index) => reservation(index))
      await write(many)
      const holdItem = await stored()
      const rest = many.slice(holdItem.open.length)
      expect(unnamedRest(holdItem)).toEqual({
        requests: rest.length,
        amount: rest.reduce((sum, each) => sum + each.amount, 0n),
      })
      await write(
        [],
        many.slice(3).map(({ requestId }) => requestId),
      )
      expect(unnamedRest(await stored())).toEqual({ requests: 0, amount: 0n })
    })
  })
})

describe('releaseHold: the release', () => {
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

  it('gives everything back although each request that it names has a row already', async () => {
    const [only] = await open('2')
    const Item = { ...tableKeys.ledgerResolution(tenant.tenantId, only?.requestId ?? ''), kind: 'release' }
    await table.transact({ row: { Put: { Item } } })
    const hold = await theHold()
    expect(await releaseHold(table, hold, 5)).toBe(true)
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
    expect((await rows()).find(({ job }) => job === hold.holdId)).toMatchObject({ amount: 2_000_000, requests: 1 })
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

describe('RelayHold', () => {
  it('has an id of its own that begins with the time and ends in its process', () => {
    const before = Date.now()
    const ids = Array.from({ length: 20 }, () => new RelayHold('tenant').holdId)
    expect(new Set(ids).size).toBe(20)
    for (const id of ids) {
      expect(id.endsWith(PROCESS_ID)).toBe(true)
      expect(timeOfId(id)).toBeGreaterThanOrEqual(before)
    }
  })
})
