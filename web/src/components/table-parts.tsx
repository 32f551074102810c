import type { ComponentChildren } from 'preact'
import { nextOrder, type TableOrder } from '../core/table-order.ts'
import { Copyable, LinkContent } from './copy.tsx'
import { Icon } from './icon.tsx'
import { cellClass, type TableColumn } from './table-column.ts'

type ColumnTitlesProps<Row> = {
  readonly columns: readonly TableColumn<Row>[]
  readonly order?: TableOrder
  /** Absent for a table with one order. */
  readonly onOrder?: (order: TableOrder) => void
}

/** The titles; those that can order the rows are buttons. */
export function ColumnTitles<Row>({ columns, order = null, onOrder }: ColumnTitlesProps<Row>) {
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          const isOrdered = order?.column === column.id
          const direction = order?.isDescending === true ? 'descending' : 'ascending'
          return (
            <th key={column.id} scope="col" class={cellClass(column)} aria-sort={isOrdered ? direction : undefined}>
              {column.order === undefined || onOrder === undefined ? (
                column.title
              ) : (
                <button type="button" class="order" onClick={() => onOrder(nextOrder(order, column.id))}>
                  {column.title}
                  {isOrdered ? <Icon name={order?.isDescending === true ? 'down' : 'up'} size={12} /> : null}
                </button>
              )}
            </th>
          )
        })}
      </tr>
    </thead>
  )
}

/** The footer, if any column has a total. */
export function ColumnTotals<Row>(props: {
  readonly columns: readonly TableColumn<Row>[]
  readonly rows: readonly Row[]
}) {
  const { columns, rows } = props
  if (rows.length === 0 || columns.every(({ total }) => total === undefined)) {
    return null
  }
  return (
    <tfoot>
      <tr>
        {columns.map((column, index) => {
          const content = column.total?.(rows) ?? (index === 0 ? 'Sum' : '')
          return (
            <td key={column.id} class={cellClass(column)} data-title={column.title}>
              {content}
            </td>
          )
        })}
      </tr>
    </tfoot>
  )
}

/** The cells of one row. @param link the page of the row, which its first cell links to. */
export function RowCells<Row>(props: {
  readonly columns: readonly TableColumn<Row>[]
  readonly row: Row
  readonly link?: string | undefined
}) {
  const { columns, row, link } = props
  return columns.map((column, index) => (
    <td key={column.id} class={cellClass(column)} data-title={column.title}>
      {index === 0 && link !== undefined ? <RowLink column={column} row={row} href={link} /> : contentOf(column, row)}
    </td>
  ))
}

/** The link of a row, and beside it the copy of what the cell means. */
function RowLink<Row>(props: { readonly column: TableColumn<Row>; readonly row: Row; readonly href: string }) {
  const { column, row, href } = props
  return (
    <Copyable value={String(column.value(row) ?? '')} label={column.title.toLowerCase()}>
      <a href={href}>
        <LinkContent>{contentOf(column, row)}</LinkContent>
      </a>
    </Copyable>
  )
}

function contentOf<Row>(column: TableColumn<Row>, row: Row): ComponentChildren {
  return column.cell === undefined ? column.value(row) : column.cell(row)
}

/** The columns that stand on the page: not those of exports alone, nor those in which no row has a value. */
export function shownColumns<Row>(
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
): readonly TableColumn<Row>[] {
  const hasValue = (column: TableColumn<Row>) =>
    rows.some((row) => column.value(row) !== null && column.value(row) !== undefined)
  return columns.filter((column) => column.isExportOnly !== true && hasValue(column))
}
