import { startTestTable, type TestTable } from './test-table.ts'
import { standIn, useOpened } from './use-opened.ts'

/** A table for the tests of a file or a describe. Its `table` may be taken before they run. */
export function useTestTable(): TestTable {
  const engine = useOpened(startTestTable)
  const table = standIn(() => engine.table)
  return {
    get endpoint() {
      return engine.endpoint
    },
    table,
    fresh: () => engine.fresh(),
    close: () => engine.close(),
  }
}
