import { type CellValue, csvLines } from './csv.ts'
import { type ListPage, leftOutOf } from './list-pages.ts'

/** A column as a file has it. */
export type ExportColumn<Row> = {
  readonly title: string
  /** What the cell means: times in ISO 8601 of UTC, amounts as the API's decimal strings. */
  readonly value: (row: Row) => CellValue
  /** Buttons mean nothing in a file. */
  readonly isShownOnly?: boolean
}

/** The content of a file, and what to say about it. */
export type CsvExport = {
  /** The file in parts, in their order. */
  readonly parts: readonly string[]
  readonly count: number
  /** What the rows do not contain; null if they are whole. */
  readonly leftOut: string | null
}

/** A file of every row of these pages. @param onProgress hears the number of rows after each page. @throws the error of a page. */
export async function exportCsv<Row>(
  columns: readonly ExportColumn<Row>[],
  pages: AsyncIterable<ListPage<Row>>,
  onProgress: (count: number) => void,
): Promise<CsvExport> {
  const written = columns.filter(({ isShownOnly }) => isShownOnly !== true)
  const parts = [csvLines([written.map(({ title }) => title)])]
  const notes: Pick<ListPage<Row>, 'left_out'>[] = []
  let count = 0
  for await (const page of pages) {
    parts.push(csvLines(page.data.map((row) => written.map(({ value }) => value(row)))))
    notes.push({ left_out: page.left_out ?? null })
    count += page.data.length
    onProgress(count)
  }
  return { parts, count, leftOut: leftOutOf(notes) }
}
