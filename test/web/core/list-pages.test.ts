import { describe, expect, it } from 'vitest'
import { type ListPage, leftOutOf, listPages, onePage } from '#web/core/list-pages.ts'

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
