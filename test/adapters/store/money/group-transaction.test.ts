import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { composeGroup, GROUP_WRITES, groupSize, type Order } from '#adapters/store/money/group-transaction.ts'
import { microcredits } from '#core/money/money.ts'

const DYNAMODB_ITEMS_MAX = 100

const order: fc.Arbitrary<Order> = fc
  .record({ id: fc.integer({ min: 0, max: 400 }), key: fc.integer({ min: 0, max: 60 }), isReserve: fc.boolean() })
  .map(({ id, key, isReserve }) => {
    const open = { tenantId: 't', requestId: `r${id}`, model: 'm', amount: microcredits(id), reservedAt: 1 }
    return isReserve
      ? { kind: 'reserve', reservation: { ...open, keyDigest: `k${key}`, keyId: 'k', operation: 'o' } }
      : {
          kind: 'resolve',
          reservation: open,
          resolution: { kind: 'settle', actual: microcredits(key), estimated: false },
          at: 2,
        }
  })

/** Groups as a writer takes them. */
function groupsOf(orders: readonly Order[]): (readonly Order[])[] {
  const groups: (readonly Order[])[] = []
  for (let left = orders; left.length > 0; left = left.slice(groupSize(left))) {
    groups.push(left.slice(0, groupSize(left)))
  }
  return groups
}

const keyOf = (write: object = {}) => {
  const [part = {}] = Object.values(write)
  const { PK, SK } = 'Key' in part ? part.Key : part.Item
  return `${PK}/${SK}`
}

describe('a group', () => {
  it('never has more items than a transaction takes, and none twice; all orders come to their turn', () => {
    fc.assert(
      fc.property(fc.array(order, { maxLength: 300, size: 'max' }), (orders) => {
        const groups = groupsOf(orders)
        expect(groups.flat()).toEqual(orders)
        for (const group of groups) {
          const keys = Object.values(composeGroup('t', group, 1)).map(keyOf)
          expect(group.length).toBeGreaterThan(0)
          expect(keys.length).toBeLessThanOrEqual(DYNAMODB_ITEMS_MAX)
          expect(new Set(keys).size).toBe(keys.length)
        }
      }),
      { numRuns: 50 },
    )
  })

  it('names the balance first, the items of each order, and one check for each key', () => {
    fc.assert(
      fc.property(fc.array(order, { minLength: 1, maxLength: 30 }), (orders) => {
        const group = orders.slice(0, groupSize(orders))
        const keys = Object.entries(composeGroup('t', group, 1)).map(([name, write]) => [name, keyOf(write)])
        const expected = group.flatMap((each) => {
          const { requestId } = each.reservation
          const open = [GROUP_WRITES.open(each), `T#t/REQ#${requestId}`]
          return each.kind === 'reserve' ? [open] : [open, [GROUP_WRITES.row(each), `L#t/${requestId}#2`]]
        })
        const digests = group.flatMap((each) => (each.kind === 'reserve' ? [each.reservation] : []))
        const checks = digests.map((each) => [GROUP_WRITES.key(each), `K#${each.keyDigest}/0`])
        const first = [GROUP_WRITES.balance, 'BAL#t/0']
        expect(keys).toEqual([...new Map([first, ...expected, ...checks].map((each) => [each[0], each])).values()])
      }),
      { numRuns: 50 },
    )
  })

  it('is full at ninety items', () => {
    const orders = Array.from({ length: 200 }, (_, index): Order => {
      const open = { tenantId: 't', requestId: `r${index}`, model: 'm', amount: microcredits(1), reservedAt: 1 }
      return { kind: 'reserve', reservation: { ...open, keyDigest: 'k', keyId: 'k', operation: 'o' } }
    })
    expect(Object.keys(composeGroup('t', orders.slice(0, groupSize(orders)), 1))).toHaveLength(90)
  })
})
