import type { ComponentChildren } from 'preact'
import type { Budget } from '../api/admin-types.ts'
import { sumAmounts } from '../core/amount.ts'
import { type ApiTime, isoTime } from '../core/time.ts'
import { Amount, Nothing } from './amount.tsx'
import { BudgetBar } from './budget-bar.tsx'
import type { TableColumn } from './table-column.ts'
import { Time } from './time.tsx'

type Named = { readonly id: string; readonly title: string }

/** A column of times, of Unix seconds; a file has them in ISO 8601 of UTC. */
export function timeColumn<Row>(
  { id, title }: Named,
  at: (row: Row) => ApiTime | null,
  more: Pick<TableColumn<Row>, 'order' | 'isExportOnly'> = {},
): TableColumn<Row> {
  return { id, title, value: (row) => isoTime(at(row)), cell: (row) => <Time at={at(row)} />, ...more }
}

/** A column of amounts with their sum, rounded on the page: titles and copies are exact, and a file has the decimal strings of the API. */
export function amountColumn<Row>(
  { id, title, isSigned = false }: Named & { readonly isSigned?: boolean },
  amount: (row: Row) => string | null,
): TableColumn<Row> {
  return {
    id,
    title,
    order: 'amount',
    value: amount,
    cell: (row) => <Amount value={amount(row)} isSigned={isSigned} isRounded />,
    total: (rows) => <Amount value={sumAmounts(rows.map(amount))} isSigned={isSigned} isRounded />,
  }
}

/** A column of numbers that may be absent. */
export function numberColumn<Row>(
  { id, title }: Named,
  value: (row: Row) => number | null | undefined,
): TableColumn<Row> {
  return { id, title, order: 'number', value, cell: (row) => value(row)?.toLocaleString('en') ?? <Nothing /> }
}

/** A column of counts with their sum. */
export function countColumn<Row>(named: Named, count: (row: Row) => number): TableColumn<Row> {
  return {
    ...numberColumn(named, count),
    total: (rows) => rows.reduce((sum, row) => sum + count(row), 0).toLocaleString('en'),
  }
}

/** A column of files alone. */
export function exported<Row>(title: string, value: TableColumn<Row>['value']): TableColumn<Row> {
  return { id: title, title, value, isExportOnly: true }
}

/** A budget as one bar on the page; a file also has its period, and what of it is spent and held. */
export function budgetColumns<Row>(
  budget: (row: Row) => Budget | null,
  isMissing: (row: Row) => boolean = () => false,
): readonly TableColumn<Row>[] {
  return [
    {
      id: 'budget',
      title: 'Budget',
      value: (row) => (isMissing(row) ? 'missing' : budget(row)?.amount),
      cell: (row) => (isMissing(row) ? 'missing' : <BudgetBar budget={budget(row)} />),
    },
    exported('Budget period', (row) => budget(row)?.period),
    exported('Budget spent', (row) => budget(row)?.spent),
    exported('Budget held', (row) => budget(row)?.held),
  ]
}

/** A column of buttons, which no file has. Its empty value keeps the column. */
export function actionsColumn<Row>(cell: (row: Row) => ComponentChildren): TableColumn<Row> {
  return { id: 'actions', title: 'Actions', value: () => '', cell, isShownOnly: true }
}
