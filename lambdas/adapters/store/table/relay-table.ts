import type { LeanTable } from './lean-table.ts'
import { readItem } from './read-item.ts'
import type { Table } from './table.ts'
import { type TransactionItem, transact } from './transaction.ts'

/** The table of a function that has the SDK anyway, as the relay's ledger takes one. */
export function ledgerTable(table: Table): LeanTable {
  return {
    getItem: (key) => readItem(table, key),
    transact: (writes) =>
      transact(
        table,
        writes.map((write) => withTableName(write, table.name)),
      ),
  }
}

function withTableName(write: object, tableName: string): TransactionItem {
  return Object.fromEntries(Object.entries(write).map(([kind, part]) => [kind, { ...part, TableName: tableName }]))
}
