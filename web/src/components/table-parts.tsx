import { nextOrder, type TableOrder } from '../core/table-order.ts'
import { Icon } from './icon.tsx'
import type { TableColumn } from './table-column.ts'

type ColumnTitlesProps<Row> = {
  readonly columns: readonly TableColumn<Row>[]
  readonly order: TableOrder
  readonly onOrder: (order: TableOrder) => void
}

/** The titles; those that can order the rows are buttons. */
export function ColumnTitles<Row>({ columns, order, onOrder }: ColumnTitlesProps<Row>) {
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          const isOrdered = order?.column === column.id
          const direction = order?.isDescending === true ? 'descending' : 'ascending'
          const isAtEnd = column.isAtEnd ?? (column.order === 'number' || column.order === 'amount')
          return (
            <th
              key={column.id}
              scope="col"
              class={isAtEnd ? 'at-end' : undefined}
              aria-sort={isOrdered ? direction : undefined}
            >
              {column.order === undefined ? (
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
          const isAtEnd = column.isAtEnd ?? (column.order === 'number' || column.order === 'amount')
          return (
            <td key={column.id} class={isAtEnd ? 'at-end' : undefined}>
              {content}
            </td>
          )
        })}
      </tr>
    </tfoot>
  )
}
