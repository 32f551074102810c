import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { microcredits } from '#core/money.ts'
import {
  composeGroup,
  GROUP_WRITES,
  GroupBudgets,
  groupSize,
  holdChange,
  isFullGroup,
  type Order,
} from '#store/relay-ledger/group-transaction.ts'
import { RelayHold } from '#store/relay-ledger/hold.ts'

const DYNAMODB_ITEMS_MAX = 100

const reservationOf = (id: number, key = 0) => ({
  tenantId: 't',
  requestId: `r${id}`,
  model: `m${key % 7}`,
  amount: microcredits(id),
  reservedAt: 1,
  keyDigest: `d${key}`,
  keyId: `k${key}`,
  operation: 'o',
})
const reserve = (id: number, key?: number): Order => ({ kind: 'reserve', reservation: reservationOf(id, key) })
const settle = (id: number, key?: number): Order => ({
  kind: 'resolve',
  reservation: reservationOf(id, key),
  resolution: { kind: 'settle', actual: microcredits(1), estimated: false },
})

const order: fc.Arbitrary<Order> = fc
  .record({
    // Seldom twice, or no group would grow large.
    id: fc.integer({ min: 0, max: 20_000 }),
    key: fc.integer({ min: 0, max: 60 }),
    keyRevision: fc.oneof({ arbitrary: fc.constant(undefined), weight: 300 }, { arbitrary: fc.constant(1), weight: 1 }),
    budget: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined }),
    isReserve: fc.boolean(),
  })
  .map(({ id, key, keyRevision, budget, isReserve }) => {
    const made = isReserve ? reserve(id, key) : settle(id, key)
    const budgetOfKey = budget === undefined ? {} : { budget: { id: `b${budget}`, kind: 'month' as const } }
    return { ...made, reservation: { ...made.reservation, keyRevision, ...budgetOfKey } }
  })

/** Groups as a writer takes them. */
function groupsOf(orders: readonly Order[]): (readonly Order[])[] {
  const groups: (readonly Order[])[] = []
  for (let left = orders; left.length > 0; left = left.slice(groupSize(left))) {
    groups.push(left.slice(0, groupSize(left)))
  }
  return groups
}

function compose(orders: readonly Order[]) {
  const { update: hold } = new RelayHold('t').compose(holdChange(orders))
  return composeGroup('t', {
    orders,
    hold,
    budgets: new GroupBudgets(),
    nowMilliseconds: Date.UTC(2026, 10, 22),
  })
}

const keyOf = (write: object = {}) => {
  const [part = {}] = Object.values(write)
  const { PK, SK } = 'Key' in part ? part.Key : part.Item
  return `${PK}/${SK}`
}

describe('composeGroup: a group', () => {
  it('never has more items than a transaction takes, and none twice; all orders come to their turn', () => {
    fc.assert(
      // Groups of a few orders, whose writes nobody counts, and large ones.
      fc.property(fc.integer({ min: 1, max: 300 }), fc.array(order, { maxLength: 300, size: 'max' }), (most, all) => {
        const orders = all.slice(0, most)
        const groups = groupsOf(orders)
        expect(groups.flat()).toEqual(orders)
        for (const group of groups) {
          const keys = Object.values(compose(group)).map(keyOf)
          expect(group.length).toBeGreaterThan(0)
          expect(keys.length).toBeLessThanOrEqual(DYNAMODB_ITEMS_MAX)
          expect(new Set(keys).size).toBe(keys.length)
        }
      }),
      // A failure of 300 orders takes minutes to shrink.
      { numRuns: 50, endOnFailure: true },
    )
  })

  it('names the balance and the hold first, then a row for each resolution, one counter of each kind and one check for each key', () => {
    const group = [settle(1, 1), reserve(2, 1), reserve(3, 2), settle(4, 1), reserve(5, 2), settle(6, 2)]
    const rows = group.filter(({ kind }) => kind === 'resolve')
    expect(Object.entries(compose(group)).map(([name, write]) => [name, keyOf(write)])).toEqual([
      [GROUP_WRITES.balance, 'BAL#t/0'],
      [GROUP_WRITES.hold, expect.stringMatching(/^T#t\/PROC#/)],
      ...rows.map((each) => [GROUP_WRITES.row(each), `L#t/${each.reservation.requestId}#2`]),
      ...['k1#o#m1', 'k2#o#m2'].map((id) => [`counter U#t 2026-11-22#${id}`, `U#t/2026-11-22#${id}`]),
      ...['d1', 'd2'].map((digest) => [`key ${digest}`, `K#${digest}/0`]),
    ])
  })

  it.each([
    ['reservations', reserve],
    ['settlements', settle],
  ])('is full with ninety %s', (_, make) => {
    const orders = Array.from({ length: 200 }, (_, index) => make(index))
    expect(groupSize(orders)).toBe(90)
    expect([orders.slice(0, 89), orders.slice(0, 90)].map(isFullGroup)).toEqual([false, true])
  })

  it('is full earlier where requests share neither key nor counter, or one request comes twice', () => {
    const orders = Array.from({ length: 200 }, (_, index) => reserve(index, index))
    const settlements = Array.from({ length: 200 }, (_, index) => settle(index, index))
    expect([orders, settlements].map(groupSize)).toEqual([90, 49])
    expect(groupSize([settle(1), reserve(2), settle(1)])).toBe(2)
    expect(isFullGroup([settle(1), reserve(2), settle(1)])).toBe(true)
  })
})
