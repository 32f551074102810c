import { describe, expect, it } from 'vitest'
import { queryItems, queryPartition } from '#adapters/store/table/query-items.ts'
import type { Table, TableQuery } from '#adapters/store/table/table.ts'

const QUERY: TableQuery = { KeyConditionExpression: 'PK = :pk', ExpressionAttributeValues: { ':pk': 'x' } }

/** A table whose query has these pages; its `asked` has each query with the key it started at. */
function pagedTable(pages: readonly (readonly number[])[]) {
  const asked: [TableQuery, unknown][] = []
  const queryPage: Table['queryPage'] = async (query, startKey) => {
    asked.push([query, startKey])
    const page = Number(startKey?.page ?? 0)
    const nextKey = page + 1 < pages.length ? { page: page + 1 } : undefined
    return { items: (pages[page] ?? []).map((number) => ({ number })), nextKey }
  }
  return { queryPage, asked }
}

const numbersOf = async (items: AsyncIterable<object>) => {
  const numbers: unknown[] = []
  for await (const item of items) {
    numbers.push('number' in item ? item.number : undefined)
  }
  return numbers
}

describe('queryItems', () => {
  it('finds every item, past a page without any', async () => {
    const table = pagedTable([[1, 2], [], [3], []])
    expect(await numbersOf(queryItems(table, QUERY))).toEqual([1, 2, 3])
    expect(table.asked).toEqual([undefined, { page: 1 }, { page: 2 }, { page: 3 }].map((key) => [QUERY, key]))
  })

  it('reads no page that its caller does not get to', async () => {
    const table = pagedTable([[1, 2], [3], [4]])
    for await (const { number } of queryItems(table, QUERY)) {
      if (number === 2) {
        break
      }
    }
    expect(table.asked).toHaveLength(1)
  })
})

describe('queryPartition', () => {
  it('reads one partition, strongly consistent on every page', async () => {
    const table = pagedTable([[1], [2]])
    expect(await numbersOf(queryPartition(table, 'T#1'))).toEqual([1, 2])
    for (const [query] of table.asked) {
      expect(query).toMatchObject({ ConsistentRead: true, ExpressionAttributeValues: { ':pk': 'T#1' } })
    }
  })
})
