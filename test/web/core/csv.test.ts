import { describe, expect, it } from '@jest/globals'
import { csvFileName, csvLines } from '#web/core/csv.ts'
import { type ExportColumn, exportCsv } from '#web/core/csv-export.ts'
import { type ListPage, onePage } from '#web/core/list-pages.ts'

describe('csv', () => {
  it.each(['=1+1', '+cmd', '-cmd|calc', '@sum(A1)', '\t=1', '\r=1', '\n=1', '＝1+1', '＠x', '-1+cmd|calc', '+1;=x'])(
    'disarms a cell that a spreadsheet would run: %j',
    (cell) => {
      expect(csvLines([[cell]])).toMatch(/^"?'/)
    },
  )

  it('disarms a formula behind what some spreadsheets take as a separator', () => {
    expect(csvLines([['x;=cmd'], ['x\t+1'], ['x\n@y'], ['x;y']])).toBe(
      '"x;\'=cmd"\r\n"x\t\'+1"\r\n"x\n\'@y"\r\n"x;y"\r\n',
    )
  })

  it('leaves negative amounts what they are', () => {
    expect(csvLines([['-0.000412'], ['+50'], [-3]])).toBe('-0.000412\r\n+50\r\n-3\r\n')
  })

  it('quotes commas, quotes and lines, and writes nothing for what is absent', () => {
    expect(
      csvLines([
        ['a', 'b'],
        ['x,"y"', 'one\ntwo'],
        [null, undefined],
      ]),
    ).toBe('a,b\r\n"x,""y""","one\ntwo"\r\n,\r\n')
  })

  it('names a file without a path, whatever the filters hold', () => {
    const now = new Date('2026-11-22T10:00:00Z')
    expect(csvFileName(['ledger', '../../etc/Passwd', undefined], { now })).toBe(
      'reelgate-ledger-etc-passwd-2026-11-22.csv',
    )
  })

  it('says in the name of a file that rows are missing', () => {
    const now = new Date('2026-11-22T10:00:00Z')
    expect(csvFileName(['ledger'], { now, isIncomplete: true })).toBe('reelgate-ledger-2026-11-22-incomplete.csv')
  })
})

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
