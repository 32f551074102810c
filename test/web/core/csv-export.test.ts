import { describe, expect, it } from 'vitest'
import { type ExportColumn, exportCsv } from '#web/core/csv-export.ts'
import { type ListPage, onePage } from '#web/core/list-pages.ts'

type Row = { readonly id: string; readonly amount: string }

const COLUMNS: readonly ExportColumn<Row>[] = [
  { title: 'Id', value: ({ id }) => id },
  { title: 'Amount', value: ({ amount }) => amount },
  { title: 'Actions', value: () => 'Revoke', isShownOnly: true },
]

async function* pagesOf(...pages: readonly ListPage<Row>[]): AsyncGenerator<ListPage<Row>> {
  yield* pages
}

describe('exportCsv', () => {
  it('writes the rows of every page below one line of titles, and tells its progress', async () => {
    const progress: number[] = []
    const pages = pagesOf(
      onePage([{ id: 'a', amount: '-0.000001' }]),
      onePage([]),
      onePage([{ id: '=b', amount: '9007199254740993.000001' }]),
    )
    const { parts, count, leftOut } = await exportCsv(COLUMNS, pages, (rows) => progress.push(rows))
    expect(parts.join('')).toBe("Id,Amount\r\na,-0.000001\r\n'=b,9007199254740993.000001\r\n")
    expect([count, leftOut, progress]).toEqual([2, null, [1, 1, 2]])
  })

  it('says what any of the pages leaves out', async () => {
    const { leftOut } = await exportCsv(COLUMNS, pagesOf(onePage([]), onePage([], 'grants of 2025')), () => {})
    expect(leftOut).toBe('grants of 2025')
  })

  it('gives no part of a file when a page fails', async () => {
    async function* failing(): AsyncGenerator<ListPage<Row>> {
      yield onePage([{ id: 'a', amount: '1' }])
      throw new Error('the gateway did not respond')
    }
    await expect(exportCsv(COLUMNS, failing(), () => {})).rejects.toThrow('the gateway did not respond')
  })
})
