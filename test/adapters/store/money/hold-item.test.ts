import { beforeEach, describe, expect, it } from 'vitest'
import { readHoldItem, type StoredHold, unnamedRest } from '#adapters/store/money/hold-item.ts'
import { NO_CHANGE, RelayHold } from '#adapters/store/money/relay-hold.ts'
import type { RelayReservation } from '#adapters/store/money/relay-reservation.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { microcredits } from '#core/money.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'

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

describe('the rest of a hold', () => {
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
