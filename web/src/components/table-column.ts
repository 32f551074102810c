import type { ComponentChildren } from 'preact'
import type { CellValue } from '../core/csv.ts'
import type { OrderKind } from '../core/table-order.ts'

/** One column of a table. */
export type TableColumn<Row> = {
  readonly id: string
  readonly title: string
  /** What the cell shows; by default its value. */
  readonly cell?: (row: Row) => ComponentChildren
  /** What the cell means: exported and ordered by this. */
  readonly value: (row: Row) => CellValue
  /** Present: the title is a button that orders the rows. Numbers and amounts stand at the right. */
  readonly order?: OrderKind
  readonly isAtEnd?: boolean
  /** What the footer shows for these rows. */
  readonly total?: (rows: readonly Row[]) => ComponentChildren
  /** Written to exports and not shown. */
  readonly isExportOnly?: boolean
}
