import { beforeEach, describe, expect, it } from '@jest/globals'
import { ServiceUnavailableError } from '#core/errors.ts'
import type { BudgetOfKey } from '#store/callers.ts'
import type { Order } from '#store/relay-ledger/group-transaction.ts'
import { GroupWriter } from '#store/relay-ledger/group-writer.ts'
import { readHoldItem } from '#store/relay-ledger/hold.ts'
import { releaseHold } from '#store/relay-ledger/release-hold.ts'
import { ConditionsNotMetError, type NamedWrites, type Table } from '#store/table/table.ts'
import { auditTenant, readPartition } from '../../engines/audit.ts'
import { keyBudgetOf, storeKeyBudget } from '../../engines/budgets.ts'
import type { TableWithClient } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openRelayingTenant, type RelayingTenant, settle } from './relaying-tenant.ts'

const engine = useTestTable()
let table: TableWithClient
let tenant: RelayingTenant
let now: number
/** Sends the transactions and updates of the next calls in its own way. */
let transact: Table['transact'] | undefined
let updateItem: Table['updateItem'] | undefined
let writer: GroupWriter
beforeEach(async () => {
  table = await engine.fresh()
  tenant = await openRelayingTenant(table, '10')
  now = Date.now()
  transact = undefined
  updateItem = undefined
  writer = openWriter()
})

function openWriter() {
  const faulty: Table = {
    ...table,
    transact: (writes) => (transact ?? table.transact)(writes),
    updateItem: (update) => (updateItem ?? table.updateItem)(update),
  }
  return new GroupWriter({ table: faulty, tenantId: tenant.tenantId, nowMilliseconds: () => now })
}

const MINUTE = 60_000
const reserve = (credits: string, budget?: BudgetOfKey): Order => ({
  kind: 'reserve',
  reservation: tenant.request(credits, { reservedAt: now, ...(budget === undefined ? {} : { budget }) }),
})
const bill = ({ reservation }: Order, credits: string): Order => ({
  kind: 'resolve',
  reservation,
  resolution: settle(credits),
})

/** Writes what another process would, whatever this one knows. @param transactions after which that process ends. */
async function reconcileReleases(transactions = Number.POSITIVE_INFINITY) {
  const ended = new Error('the process has ended')
  let left = transactions
  const mortal: Table = {
    ...table,
    transact: async (writes) => {
      left -= 1
      await (left < 0 ? Promise.reject(ended) : table.transact(writes))
    },
  }
  const items = await readPartition(table, `T#${tenant.tenantId}`)
  for (const item of items.filter(({ SK }) => String(SK).startsWith('PROC#'))) {
    await releaseHold(mortal, readHoldItem(item), now).catch((error: unknown) => {
      if (error !== ended) {
        throw error
      }
    })
  }
}

/** The next transaction fails so, before it is written or after. */
function failWith(error: unknown, when: 'before' | 'after'): void {
  transact = async (writes) => {
    transact = undefined
    if (when === 'after') {
      await table.transact(writes)
    }
    throw error
  }
}

const unavailable = () => new ServiceUnavailableError()
const written = (orders: readonly Order[]) => ({ written: orders, refused: new Map(), groups: [] })
const inOrder = async () => expect(await auditTenant(table, tenant.tenantId)).toEqual([])

describe('GroupWriter: a group whose outcome is unknown', () => {
  it('and that was written is adopted: its reservations are given back, because their callers got an error', async () => {
    const lost = reserve('1')
    failWith(unavailable(), 'after')
    await expect(writer.write([lost])).rejects.toBeInstanceOf(ServiceUnavailableError)
    const next = reserve('2')
    expect(await writer.write([next])).toEqual(written([next]))
    expect(await tenant.balance()).toEqual(['7', '3', '0'])
    const own = writer.takeUnwanted()
    expect(own).toMatchObject([{ kind: 'resolve', reservation: lost.reservation, resolution: { kind: 'release' } }])
    expect(writer.takeUnwanted()).toEqual([])
    expect(await writer.write(own)).toEqual(written(own))
    expect(await tenant.balance()).toEqual(['8', '2', '0'])
    await inOrder()
  })

  it('and that was not written leaves nothing behind', async () => {
    failWith(unavailable(), 'before')
    await expect(writer.write([reserve('1')])).rejects.toBeInstanceOf(ServiceUnavailableError)
    const next = reserve('2')
    expect(await writer.write([next])).toEqual(written([next]))
    expect(writer.takeUnwanted()).toEqual([])
    expect(await tenant.balance()).toEqual(['8', '2', '0'])
    await inOrder()
  })

  it.each(['the first one of its hold', 'a later one'])('cannot arrive after its successor: %s', async (which) => {
    if (which === 'a later one') {
      await writer.write([reserve('1')])
    }
    let late: NamedWrites = {}
    transact = async (writes) => {
      transact = undefined
      late = writes
      throw unavailable()
    }
    await expect(writer.write([reserve('1')])).rejects.toBeInstanceOf(ServiceUnavailableError)
    await writer.write([reserve('2')])
    const before = await tenant.balance()
    await expect(table.transact(late)).rejects.toBeInstanceOf(ConditionsNotMetError)
    expect(await tenant.balance()).toEqual(before)
    await inOrder()
  })

  it('and that arrives before its successor is adopted', async () => {
    const lost = reserve('1')
    failWith(unavailable(), 'before')
    let late: NamedWrites = {}
    const lose = transact
    transact = (writes) => {
      late = writes
      return lose?.(writes) ?? Promise.resolve()
    }
    await expect(writer.write([lost])).rejects.toBeInstanceOf(ServiceUnavailableError)
    await table.transact(late)
    await writer.write([reserve('2')])
    expect(writer.takeUnwanted()).toMatchObject([{ reservation: lost.reservation }])
    await inOrder()
  })

  it('is billed once: a settlement that was written is not written again', async () => {
    const order = reserve('1')
    await writer.write([order])
    const settlement = bill(order, '0.5')
    failWith(unavailable(), 'after')
    await expect(writer.write([settlement])).rejects.toBeInstanceOf(ServiceUnavailableError)
    transact = () => Promise.reject(new Error('a second transaction'))
    expect(await writer.write([settlement])).toEqual(written([settlement]))
    expect(await tenant.balance()).toEqual(['9.5', '0', '0.5'])
    await inOrder()
  })

  it.each([
    ['an error of the table', new TypeError('undefined is not a function')],
    [
      'a refusal after a try with an unknown outcome',
      new ConditionsNotMetError(['balance', 'hold'], { isFinal: false }),
    ],
  ])('is found out at once after %s', async (_, error) => {
    const order = reserve('1')
    failWith(error, 'after')
    expect(await writer.write([order])).toEqual(written([order]))
    expect(writer.takeUnwanted()).toEqual([])
    const settlement = bill(order, '1')
    failWith(error, 'before')
    expect(await writer.write([settlement])).toMatchObject({ written: [], refused: new Map([[settlement, error]]) })
    await inOrder()
  })

  it('stays in doubt while the table is out of reach, and is known when the table is back', async () => {
    const order = reserve('1')
    await writer.write([order])
    const settlement = bill(order, '0.5')
    failWith(unavailable(), 'before')
    await expect(writer.write([settlement])).rejects.toBeInstanceOf(ServiceUnavailableError)
    updateItem = async (update) => {
      await table.updateItem(update)
      throw unavailable()
    }
    for (let tries = 0; tries < 3; tries += 1) {
      await expect(writer.write([settlement])).rejects.toBeInstanceOf(ServiceUnavailableError)
    }
    updateItem = undefined
    expect(await writer.write([settlement])).toEqual(written([settlement]))
    expect(await tenant.balance()).toEqual(['9.5', '0', '0.5'])
    await inOrder()
  })
})

describe('GroupWriter: a hold that Reconcile released', () => {
  it('is noticed by the next group: settlements are refused, and reservations go into another hold', async () => {
    const open = reserve('1')
    await writer.write([open])
    await reconcileReleases()
    const [settlement, next] = [bill(open, '0.5'), reserve('2')]
    expect(await writer.write([settlement, next])).toEqual({
      written: [],
      refused: new Map(),
      groups: [[settlement, next]],
    })
    const { refused, groups } = await writer.write([settlement, next])
    expect(refused.get(settlement)).toMatchObject({ name: 'ReservationReleasedError' })
    expect(groups).toEqual([[next]])
    expect(await writer.write([next])).toEqual(written([next]))
    expect(await tenant.balance()).toEqual(['8', '2', '0'])
    await inOrder()
  })

  it.each(['with the group in doubt', 'without it'])(
    'while a group was in doubt takes its settlements %s, and no reservation comes again',
    async (how) => {
      const open = reserve('1')
      await writer.write([open])
      const [settlement, lost] = [bill(open, '0.5'), reserve('2')]
      failWith(unavailable(), how === 'with the group in doubt' ? 'after' : 'before')
      await expect(writer.write([settlement, lost])).rejects.toBeInstanceOf(ServiceUnavailableError)
      await reconcileReleases()
      const { refused } = await writer.write([settlement])
      expect(refused.get(settlement)).toMatchObject({ name: 'ReservationReleasedError' })
      expect(writer.takeUnwanted()).toEqual([])
      expect(await tenant.balance()).toEqual(how === 'with the group in doubt' ? ['9.5', '0', '0.5'] : ['10', '0', '0'])
      await inOrder()
    },
  )

  it('under a reservation whose tries were interrupted refuses the reservation as unavailable', async () => {
    const open = reserve('1')
    await writer.write([open])
    const [settlement, interrupted] = [bill(open, '0.5'), reserve('2')]
    transact = async () => {
      transact = undefined
      await reconcileReleases()
      throw new ConditionsNotMetError(['hold'], { isFinal: false })
    }
    const { refused, groups } = await writer.write([settlement, interrupted])
    expect(refused.get(interrupted)).toBeInstanceOf(ServiceUnavailableError)
    expect(groups).toEqual([[settlement]])
    await inOrder()
  })

  it('before the outcome of its first write was found out refuses the reservations as unavailable', async () => {
    const lost = [reserve('1'), reserve('2')]
    transact = async (writes) => {
      transact = undefined
      await table.transact(writes)
      now += 20 * MINUTE
      await reconcileReleases()
      throw new TypeError('undefined is not a function')
    }
    const { refused, groups } = await writer.write(lost)
    expect(lost.map((order) => refused.get(order))).toEqual([
      expect.any(ServiceUnavailableError),
      expect.any(ServiceUnavailableError),
    ])
    expect(groups).toEqual([])
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
    await inOrder()
  })

  it('before its first write was known to be in the table is not made again by a repeated try', async () => {
    const lost = reserve('1')
    failWith(unavailable(), 'after')
    await expect(writer.write([lost])).rejects.toBeInstanceOf(ServiceUnavailableError)
    now += 20 * MINUTE
    await reconcileReleases()
    const next = reserve('2')
    expect(await writer.write([next])).toEqual(written([next]))
    expect(writer.takeUnwanted()).toEqual([])
    expect(await tenant.balance()).toEqual(['8', '2', '0'])
    await inOrder()
  })

  it('in part while a group was in doubt is left alone, and the rest of the release gives each budget back once', async () => {
    const budgets = await Promise.all(
      Array.from({ length: 81 }, (_, index) =>
        storeKeyBudget(table, `b${index}`, { credits: '3', kind: 'total', atMilliseconds: 0 }),
      ),
    )
    await writer.write(budgets.map((budget) => reserve('0.01', budget)))
    failWith(unavailable(), 'after')
    await expect(writer.write([reserve('1')])).rejects.toBeInstanceOf(ServiceUnavailableError)
    await reconcileReleases(1)
    const next = reserve('2')
    expect(await writer.write([next])).toEqual(written([next]))
    await reconcileReleases()
    expect(await tenant.balance()).toEqual(['10', '0', '0'])
    for (const { id } of budgets) {
      expect(await keyBudgetOf(table, id)).toEqual(['total', '0', '0', '3', '3'])
    }
    await inOrder()
  })
})

describe('GroupWriter', () => {
  it('refuses without a write what cannot be: a second reservation of a request, and a resolution of another amount', async () => {
    const open = reserve('1')
    await writer.write([open])
    transact = () => Promise.reject(new Error('a transaction'))
    const again: Order = { ...open, kind: 'reserve' }
    const other = bill(reserve('1'), '1')
    const { refused } = await writer.write([again, other])
    expect([...refused.values()]).toMatchObject([{ name: 'ConditionsNotMetError' }, { name: 'ConditionsNotMetError' }])
  })

  it('can be replaced once nothing is open, in doubt or unreported, and its hold has lapsed', async () => {
    expect(writer.isDisposable).toBe(true)
    const open = reserve('1')
    await writer.write([open])
    now += 20 * MINUTE
    expect(writer.isDisposable).toBe(false)
    await writer.write([bill(open, '1')])
    expect(writer.isDisposable).toBe(true)
    now -= 19 * MINUTE
    expect(writer.isDisposable).toBe(false)
  })
})
