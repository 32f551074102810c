import { inHand } from '../api/list-of.ts'
import { ExportButton } from './export-button.tsx'
import type { TableColumn } from './table-column.ts'
import { ColumnTitles, ColumnTotals, RowCells, shownColumns } from './table-parts.tsx'

type PlainTableProps<Row> = {
  /** What the rows are; read aloud before them. */
  readonly caption: string
  readonly columns: readonly TableColumn<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  /** Words of the exported file's name. */
  readonly exportName: readonly (string | null | undefined)[]
  /** What the rows do not contain; null if they are whole. */
  readonly leftOut?: string | null
}

/** A short table of rows in hand, in their one order, with its export. */
export function PlainTable<Row>(props: PlainTableProps<Row>) {
  const { caption, columns, rows, rowKey, exportName, leftOut = null } = props
  const shown = shownColumns(columns, rows)
  return (
    <div class="table-section">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll box must be reachable by the keyboard */}
      <section class="table-box" tabIndex={0} aria-label={caption}>
        <table>
          <caption class="unseen">{caption}</caption>
          <ColumnTitles columns={shown} />
          <tbody>
            {rows.map((row) => (
              <tr key={rowKey(row)}>
                <RowCells columns={shown} row={row} />
              </tr>
            ))}
          </tbody>
          <ColumnTotals columns={shown} rows={rows} />
        </table>
      </section>
      <ExportButton columns={columns} pages={() => inHand(rows, leftOut)} name={exportName} />
    </div>
  )
}
