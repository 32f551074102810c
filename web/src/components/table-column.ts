import type { ComponentChildren } from 'preact'
import type { ExportColumn } from '../core/csv-export.ts'
import type { OrderKind } from '../core/table-order.ts'

/** One column of a table. Its value is exported, and orders the rows. */
export type TableColumn<Row> = ExportColumn<Row> & {
  readonly id: string
  /** What the cell shows; by default its value. */
  readonly cell?: (row: Row) => ComponentChildren
  /** Present: the title is a button that orders the rows. Numbers and amounts stand at the right. */
  readonly order?: OrderKind
  readonly isAtEnd?: boolean
  /** Sentences may wrap; names, ids, times and amounts stay on one line. */
  readonly isProse?: boolean
  /** What the footer shows for these rows. */
  readonly total?: (rows: readonly Row[]) => ComponentChildren
  /** Written to exports and not shown. */
  readonly isExportOnly?: boolean
}

/** The class of a column's cells: numbers and amounts stand at the right unless the column says otherwise, and prose may wrap. */
export function cellClass({
  isAtEnd,
  isProse,
  order,
}: Pick<TableColumn<never>, 'isAtEnd' | 'isProse' | 'order'>): string | undefined {
  if (isProse === true) {
    return 'wraps'
  }
  return (isAtEnd ?? (order === 'number' || order === 'amount')) ? 'at-end' : undefined
}
