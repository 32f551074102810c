import { compareAmounts } from './amount.ts'
import type { CellValue } from './csv.ts'

/** How the values of a column are ordered. */
export type OrderKind = 'text' | 'number' | 'amount'

/** The column by which a table is ordered, and its direction. */
export type TableOrder = { readonly column: string; readonly isDescending: boolean } | null

/** A copy of the rows in order; rows without a value stand last in both directions. */
export function orderRows<Row>(
  rows: readonly Row[],
  valueIn: (row: Row) => CellValue,
  { kind, isDescending }: { readonly kind: OrderKind; readonly isDescending: boolean },
): readonly Row[] {
  const direction = isDescending ? -1 : 1
  return rows.toSorted((left, right) => {
    const [a, b] = [valueIn(left), valueIn(right)]
    if (isAbsent(a) || isAbsent(b)) {
      return Number(isAbsent(a)) - Number(isAbsent(b))
    }
    return direction * compareValues(a, b, kind)
  })
}

/** The order after a press on a column's title: ascending, descending, none. */
export function nextOrder(order: TableOrder, column: string): TableOrder {
  if (order?.column !== column) {
    return { column, isDescending: false }
  }
  return order.isDescending ? null : { column, isDescending: true }
}

function isAbsent(value: CellValue): value is null | undefined {
  return value === null || value === undefined
}

function compareValues(left: CellValue, right: CellValue, kind: OrderKind): number {
  if (kind === 'amount') {
    return compareAmounts(String(left), String(right))
  }
  return kind === 'number' ? Number(left) - Number(right) : String(left).localeCompare(String(right), 'en')
}
