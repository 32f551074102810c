import { describe, expect, it } from 'vitest'
import { nextOrder, orderRows } from '#web/core/table-order.ts'

const rows = [
  { cost: '10', name: 'b' },
  { cost: '9', name: 'a' },
  { cost: null, name: null },
  { cost: '0.000001', name: 'C' },
]

describe('table-order', () => {
  it('orders amounts by value, with rows without one last in both directions', () => {
    const order = (isDescending: boolean) =>
      orderRows(rows, ({ cost }) => cost, { kind: 'amount', isDescending }).map(({ cost }) => cost)
    expect(order(false)).toEqual(['0.000001', '9', '10', null])
    expect(order(true)).toEqual(['10', '9', '0.000001', null])
  })

  it('orders text as people do, and leaves the rows that it was given alone', () => {
    const ordered = orderRows(rows, ({ name }) => name, { kind: 'text', isDescending: false })
    expect(ordered.map(({ name }) => name)).toEqual(['a', 'b', 'C', null])
    expect(rows[0]?.name).toBe('b')
  })

  it('goes from ascending over descending to none', () => {
    const first = nextOrder(null, 'cost')
    const second = nextOrder(first, 'cost')
    expect([first, second, nextOrder(second, 'cost')]).toEqual([
      { column: 'cost', isDescending: false },
      { column: 'cost', isDescending: true },
      null,
    ])
    expect(nextOrder(second, 'name')).toEqual({ column: 'name', isDescending: false })
  })
})
