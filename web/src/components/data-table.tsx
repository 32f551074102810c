import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { List } from '../api/admin-query.ts'
import { orderRows, type TableOrder } from '../core/table-order.ts'
import { Button } from './button.tsx'
import { Empty, Failure, Skeleton } from './feedback.tsx'
import type { TableColumn } from './table-column.ts'
import { ColumnTitles, ColumnTotals, RowCells, shownColumns } from './table-parts.tsx'
import { TableStatus } from './table-status.tsx'

type DataTableProps<Row> = {
  /** What the rows are; read aloud before them. */
  readonly caption: string
  readonly columns: readonly TableColumn<Row>[]
  readonly list: List<Row>
  readonly rowKey: (row: Row) => string
  /** The page of a row. Its first cell is the link, so it can be opened in another tab. */
  readonly href?: (row: Row) => string
  /** Shown when there has never been a row: a sentence and one action. */
  readonly empty: ComponentChildren
  /** Present while filters are set: removes them. */
  readonly onClearFilters?: (() => void) | undefined
  /** Words of the exported file's name. */
  readonly exportName: readonly (string | null | undefined)[]
}

/** A table with its own scroll box, order, totals, export, and a state for everything that can happen to its rows. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, columns, list, rowKey, href, empty, onClearFilters } = props
  const [order, setOrder] = useState<TableOrder>(null)
  if (list.isLoading) {
    return <Skeleton label={`Loading ${caption}`} />
  }
  if (list.error !== null && list.rows.length === 0) {
    return <Failure error={list.error} onRetry={list.reload} />
  }
  const shown = shownColumns(columns, list.rows)
  const rows = inOrder(list.rows, shown, order)
  return (
    <div class="table-section">
      {list.error === null ? null : <Failure error={list.error} onRetry={list.reload} />}
      {rows.length === 0 ? (
        <NoRows onClearFilters={onClearFilters} list={list}>
          {empty}
        </NoRows>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll box must be reachable by the keyboard
        <section class="table-box" tabIndex={0} aria-label={caption}>
          <table class={list.isStale ? 'is-stale' : undefined}>
            <caption class="unseen">{caption}</caption>
            <ColumnTitles columns={shown} order={order} onOrder={setOrder} />
            <tbody>
              {rows.map((row) => (
                <TableRow key={rowKey(row)} row={row} columns={shown} href={href?.(row)} />
              ))}
            </tbody>
            <ColumnTotals columns={shown} rows={rows} />
          </table>
        </section>
      )}
      <TableStatus {...props} />
      {list.hasMore ? (
        <Button isBusy={list.isLoadingMore} onClick={list.loadMore}>
          {list.isLoadingMore ? 'Loading…' : 'Load more'}
        </Button>
      ) : null}
    </div>
  )
}

function inOrder<Row>(rows: readonly Row[], columns: readonly TableColumn<Row>[], order: TableOrder) {
  const column = columns.find(({ id }) => id === order?.column)
  return order === null || column?.order === undefined
    ? rows
    : orderRows(rows, column.value, { kind: column.order, isDescending: order.isDescending })
}

type NoRowsProps = {
  readonly onClearFilters: (() => void) | undefined
  readonly list: Pick<List<unknown>, 'hasMore'>
  readonly children: ComponentChildren
}

/** Nothing at all, nothing behind the filters, or nothing as far as the gateway has looked. */
function NoRows({ onClearFilters, list, children }: NoRowsProps) {
  if (list.hasMore) {
    return <Empty title="Nothing yet">The gateway has looked through the newest part. Load more to look further.</Empty>
  }
  return onClearFilters === undefined ? (
    <div>{children}</div>
  ) : (
    <Empty title="Nothing matches these filters">
      <Button onClick={onClearFilters}>Clear filters</Button>
    </Empty>
  )
}

type TableRowProps<Row> = {
  readonly row: Row
  readonly columns: readonly TableColumn<Row>[]
  readonly href: string | undefined
}

/** A press anywhere in a row that has a page opens it, unless it was meant for a button or a link inside. */
function TableRow<Row>({ row, columns, href }: TableRowProps<Row>) {
  const { route } = useLocation()
  const open = (event: MouseEvent) => {
    const target = event.target instanceof Element ? event.target : null
    const isPlain = !event.metaKey && !event.ctrlKey && !event.shiftKey && String(getSelection() ?? '') === ''
    if (href !== undefined && isPlain && target?.closest('a, button, input, select') === null) {
      route(href)
    }
  }
  return (
    // The link in the first cell is for the keyboard.
    <tr data-row tabIndex={-1} class={href === undefined ? undefined : 'is-link'} onClick={open}>
      <RowCells columns={columns} row={row} link={href} />
    </tr>
  )
}
