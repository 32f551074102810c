import { describe, expect, it } from '@jest/globals'
import { isFiltered, readFilters, urlWithFilters } from '#web/core/filters.ts'
import { type ListPage, leftOutOf, listPages, onePage } from '#web/core/list-pages.ts'
import { nextOrder, orderRows } from '#web/core/table-order.ts'

const page = (data: readonly number[], next: string | null, has_more = next !== null): ListPage<number> => ({
  data,
  next,
  has_more,
})

async function rowsOf(pages: Readonly<Record<string, ListPage<number>>>): Promise<readonly number[]> {
  const rows: number[] = []
  for await (const { data } of listPages(async (after) => pages[after ?? 'first'] ?? page([], null))) {
    rows.push(...data)
  }
  return rows
}

describe('listPages', () => {
  it('reads every page, also behind a filtered one without rows', async () => {
    expect(await rowsOf({ first: page([1], 'a'), a: page([], 'b'), b: page([2], null) })).toEqual([1, 2])
  })

  it('has no largest number of pages', async () => {
    const last = 1_234
    const pages = listPages(async (after = '0') => page([1], Number(after) === last ? null : String(Number(after) + 1)))
    let count = 0
    for await (const { data } of pages) {
      count += data.length
    }
    expect(count).toBe(last + 1)
  })

  it('fails rather than end early for a list that goes on without a new cursor', async () => {
    await expect(rowsOf({ first: page([1], null, true) })).rejects.toThrow('gives no cursor')
    await expect(rowsOf({ first: page([1], 'a'), a: page([2], 'a') })).rejects.toThrow('gives no cursor')
  })
})

describe('leftOutOf', () => {
  it('says each sentence once, from whichever page', () => {
    expect(leftOutOf([onePage([1]), onePage([2], 'old rows'), onePage([3], 'old rows'), onePage([], 'more')])).toBe(
      'old rows; more',
    )
    expect(leftOutOf([onePage([1]), {}])).toBeNull()
  })
})

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

describe('filters', () => {
  it('are read from the url alone, without empty ones and without strange parameters', () => {
    expect(readFilters({ tenant: 'demo', kind: '', utm: '1' }, ['tenant', 'kind'])).toEqual({ tenant: 'demo' })
  })

  it('give one url for equal filters, and none of the empty ones', () => {
    const url = urlWithFilters('/console/ledger', { tenant: 'demo', kind: 'grant' }, { kind: '', from: '2026-11-01' })
    expect(url).toBe('/console/ledger?from=2026-11-01&tenant=demo')
    expect(urlWithFilters('/console/ledger', {}, { kind: '' })).toBe('/console/ledger')
  })

  it('keep whatever a person types inside one parameter', () => {
    const url = urlWithFilters('/console/audit', {}, { target: 'a&b=c#d' })
    expect(new URL(url, 'http://localhost').searchParams.get('target')).toBe('a&b=c#d')
  })

  it('do not count the tenant, which a page is about', () => {
    expect([isFiltered({ tenant: 'demo' }), isFiltered({ tenant: 'demo', kind: 'grant' }), isFiltered({})]).toEqual([
      false,
      true,
      false,
    ])
  })
})
